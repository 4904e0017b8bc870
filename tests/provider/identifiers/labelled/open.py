"""Labelled columns, open half: identifiers and free text against ordinary attributes.

python make_open.py [folder]   writes one CSV per table and labels.json (deterministic, no dependencies).
All names, numbers and addresses are invented; numbers have valid check digits where a scheme has them.
A column is (name, "<sign><@?>kind|country", function[, share of empty cells]): + identifying, - ordinary,
@ one value per person (kept over the person's records), otherwise one value per record.
"""
import csv, datetime as dt, json, os, random, string, sys, uuid

D = "0123456789"; U = string.ascii_uppercase
# country: male | female | last names | towns | streets
N = {k: [x.split(",") for x in v.split("|")] for k, v in {
"US": "James,Tyler,Marcus,Brandon,Kyle,Ethan,Darnell,Travis,Logan,Hunter,Wyatt,Grant|Ashley,Brittany,Megan,Savannah,Latoya,Kayla,Haley,Madison,Tiffany,Destiny,Paige,Brooke|Whitfield,Hargrove,Caldwell,Sorensen,McAllister,O'Rourke,Delgado,Prescott,Hutchins,Tillman,Vandermeer,Blackwood,Ferraro,Nakagawa,Stubbs,Crenshaw,Lundquist,Abernathy,Mayfield,Pruitt,Castellano,Boatwright|Tulsa,Omaha,Fresno,Toledo,Boise,Dayton|Maple Ave,Oak St,Lincoln Blvd,Cedar Ln,2nd St,Sunset Dr",
"GB": "Alastair,Nigel,Rupert,Gareth,Callum,Hamish,Oliver,Barnaby,Dylan,Rhys|Imogen,Philippa,Gemma,Fiona,Bronwen,Harriet,Poppy,Siobhan,Beatrix,Nicola|Ashworth,Braithwaite,Pemberton,MacLeod,Llewellyn,Fairclough,Hargreaves,Winterbottom,Drummond,Penhaligon,Thistlewood,Copperfield,Barraclough,Featherstone,Ogden,Sutcliffe,Entwistle,Rowbotham|Leeds,Bristol,Cardiff,Dundee,Exeter|High Street,Station Road,Church Lane,Mill Road,Victoria Terrace",
"DE": "Jürgen,Matthias,Thorsten,Uwe,Sebastian,Björn,Karl-Heinz,Holger,Lukas,Detlef,Rüdiger,Timo|Heike,Sabine,Ulrike,Annegret,Silke,Lieselotte,Katrin,Anke,Birgit,Jana,Mechthild,Svenja|Schäfer,Köhler,Brinkmann,von Stetten,Kühnert,Hoffmeister,Grabowski,Lindemann,Weißgerber,Obermüller,Dreyer,Zimmermann,Pfeiffer,Nußbaum,Tiedemann,Hagenkötter,Raabe,Seidel,Vollmer,Ziegenhals,Meyer-Wittig,Böttcher|Kassel,Bochum,Erfurt,Mainz,Rostock,Ulm|Hauptstraße,Bahnhofstr.,Gartenweg,Am Anger,Lindenallee,Schulstraße",
"AT": "Franz,Leopold,Alois,Wolfgang,Gottfried,Markus,Hannes,Stefan|Waltraud,Theresia,Herta,Elfriede,Magdalena,Kathrin,Resi,Brigitte|Hinterleitner,Oberhauser,Schwaiger,Kaltenbrunner-Haas,Pfandl,Eibensteiner,Rauchenwald,Ziegelwanger,Haslauer,Nussdorfer,Gstöttner,Achleitner,Putz,Zehetner,Wimmer|Wels,Villach,Krems,Bregenz,Leoben|Ringstraße,Mühlgasse,Dorfplatz,Kirchengasse",
"FR": "Thierry,Jean-Luc,Fabrice,Étienne,Mathieu,Benoît,Gaëtan,Rémi,Loïc,Hervé|Chloé,Sandrine,Marie-Claire,Aurélie,Océane,Solène,Mireille,Élodie,Geneviève,Noémie|Lefebvre,Marchand,Bouchard,Delacroix,Guérin,Le Goff,Charpentier,Rousselle,Vasseur,Picard,Tessier,Fontaine,Aubert,Poulain,Chevallier,D'Aubigny,Mallet,Renaudin|Nantes,Dijon,Limoges,Rouen,Grenoble|rue de la Gare,avenue Jean Jaurès,place du Marché,rue des Lilas,impasse du Moulin",
"ES": "Íñigo,Gonzalo,Rodrigo,Joaquín,Álvaro,Ignacio,Vicente,Fermín|Nuria,Inmaculada,Macarena,Rocío,Begoña,Pilar,Itziar,Remedios|Echeverría,Ibáñez,Cabrera,Molina,Quintana,Zubizarreta,Peñalver,Carrasco,Gallardo,Bermúdez,Lozano,Sanchís,Navarrete,Olmedo,Villalba,Arreola|Sevilla,Burgos,Murcia,Gijón,Lugo|Calle Mayor,Avda. de la Constitución,Plaza Nueva,Calle del Pozo",
"IT": "Giancarlo,Massimo,Ettore,Salvatore,Fabrizio,Nicolò,Tommaso,Rocco|Ludovica,Giuseppina,Ornella,Chiara,Mariangela,Loredana,Ginevra,Filomena|Esposito,Mancuso,Bellini,D'Angelo,Cattaneo,Pellegrino,Sorrentino,Zanetti,Fumagalli,Di Stefano,Ricciardi,Bortolotti,Caruso,Morandi,Lo Presti,Ferrante|Bari,Parma,Udine,Lecce,Trento|Via Roma,Viale Garibaldi,Piazza Dante,Via dei Mille",
"PL": "Krzysztof,Zbigniew,Łukasz,Wojciech,Grzegorz,Sławomir,Mateusz,Bogdan|Agnieszka,Małgorzata,Katarzyna,Bożena,Jadwiga,Weronika,Halina,Zofia|Wiśniewski,Kowalczyk,Dąbrowski,Zając,Wróbel,Pawlak,Szymański,Górski,Jabłoński,Krawczyk,Mazurek,Żukowski,Ostrowski,Gajewski,Sikora,Ćwik|Łódź,Gdynia,Lublin,Opole,Radom|ul. Lipowa,ul. Kościuszki,al. Niepodległości,os. Słoneczne",
"NL": "Maarten,Sjoerd,Pieter,Joost,Bram,Gerrit,Wouter,Thijs|Annelies,Marloes,Fleur,Sanne,Geertje,Willemijn,Femke,Liesbeth|van der Berg,de Vries,Hoekstra,Bakker,van Dijk,Kuipers,ter Horst,Zijlstra,Verhoeven,Noordhoek,Schouten,van den Broek,Wiersma,Dekker|Breda,Zwolle,Assen,Delft,Tiel|Dorpsstraat,Kerkweg,Molenlaan,Stationsplein",
"SE": "Anders,Göran,Lennart,Björn,Oskar,Fredrik,Åke,Viktor|Ingrid,Åsa,Birgitta,Linnéa,Maj-Britt,Ebba,Gunilla,Sofia|Lindqvist,Bergström,Åkesson,Sjöberg,Hallgren,Ekdahl,Öberg,Nordin,Söderlund,Wallin,Engström,Fridén,Högberg,Ljung|Umeå,Lund,Örebro,Gävle|Storgatan,Kungsgatan,Skolvägen,Björkstigen",
"FI": "Juhani,Pekka,Antero,Mikko,Väinö,Jukka|Aino,Päivi,Kaarina,Sirpa,Helmi,Tuulikki|Virtanen,Nieminen,Mäkelä,Hämäläinen,Järvinen,Koskela,Lehtonen,Salmi,Rantala,Ojala|Turku,Oulu,Kuopio|Keskuskatu,Mäntytie,Koulukatu",
"CH": "Reto,Beat,Urs,Flavio,Luca,Jörg|Regula,Vreni,Corinne,Chantal,Ladina,Ursina|Zgraggen,Ammann,Bürki,Caduff,Favre,Gerber,Hürlimann,Inderbitzin,Oberholzer,Rochat,Stucki,Wyss|Thun,Chur,Vevey|Bahnhofstrasse,Seeweg,Rue du Lac",
"BE": "Koen,Wim,Pascal,Luc,Jelle,Didier,Filip|Els,Griet,Martine,Lies,Anneke,Nathalie,Hilde|Peeters,Claes,Wouters,Goossens,Dubois,Maes,Lambert,De Smet,Vermeulen|Gent,Namur,Leuven|Kerkstraat,Rue Haute,Stationsstraat",
"JP": "健太,大輔,拓也,誠,隆,直樹,悠斗,剛|美咲,由美,恵子,さくら,陽菜,智子,真由美,葵|佐藤,鈴木,高橋,田中,渡辺,伊藤,山本,小林,吉田,山口,松本,井上,木村,林,清水|札幌市,仙台市,名古屋市|本町,中央,栄",
"GR": "Γιώργος,Νίκος,Δημήτρης,Σπύρος,Θανάσης,Κώστας|Ελένη,Μαρία,Κατερίνα,Σοφία,Βασιλική,Δέσποινα|Παπαδόπουλος,Γεωργίου,Οικονόμου,Νικολάου,Δημητρίου,Καραγιάννης,Βλάχος,Αγγελόπουλος,Μακρής,Ζαχαρίου|Πάτρα,Βόλος|Ερμού,Αθηνάς",
}.items()}
ASC = str.maketrans("äöüßåáàâéèêëíîïñóôòúùçłąćęńśźżøÄÖÜÅÁÉÍÓÚŁŻŚĆæ'", "aousaaaaeeeeiiinooouucLacenszzoAOUAAEIOULZSCa.")
def asc(s): return s.translate(ASC).replace("L", "l").replace(" ", "").replace(".", "").lower()
def ch(r, s): return r.choice(s.split(",") if isinstance(s, str) else s)
def dg(r, n): return "".join(r.choice(D) for _ in range(n))
def pat(r, p):  # # digit, * digit 2 to 9, ? letter, ~ hex, ^ consonant, anything else itself
    k = {"#": D, "*": D[2:], "?": U, "~": D + "abcdef", "^": "BCDFGHJKLMNPRSTVWXYZ"}
    return "".join(r.choice(k.get(c, c)) for c in p)
def luhn(s):
    t = 0
    for i, c in enumerate(reversed(s)):
        v = int(c) * (2 if i % 2 == 0 else 1); t += v - 9 if v > 9 else v
    return s + str(-t % 10)
def w11(s, w): return sum(int(a) * b for a, b in zip(s, w)) % 11

TAIL = {"US": "Hol Brad Win Tor Lang Mar Ches Hart|ley ford ston well man worth by den", "GB": "Thorn Black Kirk Had Wether Ock Stan Bram|ley ham wick shaw by field don croft",
 "DE": "Stein Wald Berg Linden Kirch Brun Acker Eich|mann hofer meier bach inger feld kamp ner", "AT": "Wald Stein Gruben Hof Moos Lech Tal|huber lechner bauer egger ecker reiter",
 "FR": "Mont Beau Grand Clair Char Val Ros|ier eau mont bois veau lieu in", "ES": "Mar Cal Sal Ben Pal Tor|tínez derón cedo ítez mero ado", "IT": "Mar Bal Tor Pas Gal Ros|telli dini razzi quale letti onari",
 "PL": "Kos Mal Wit Zar Bor Gra Pod|owski iński czak ecki ewicz cki", "NL": "Wester Ooster Nieuw Groot Klein|huis veld hof kamp man donk", "SE": "Lund Sand Berg Ek Norr Gran|gren ström mark vall stedt berg",
 "FI": "Kallio Metsä Niemi Salo Hauta Vuori|nen la mäki ranta koski", "CH": "Brun Aesch Matt Ruf Zur|ner bacher mann egg li", "BE": "Van|dael develde der haegen eycken neste camp"}

class P:
    def __init__(s, r, c, i, lo=1931, hi=2012):
        s.c, s.i, s.m = c, i, r.random() < .5
        s.f = r.choice(N[c][0 if s.m else 1]); s.l = r.choice(N[c][2])
        if c in TAIL and r.random() < .4: a, b = TAIL[c].split("|"); s.l = r.choice(a.split()) + r.choice(b.split())
        if c == "PL" and not s.m and s.l.endswith("ski"): s.l = s.l[:-1] + "a"
        if c == "ES": s.l += " " + r.choice(N[c][2])
        s.b = dt.date(lo, 1, 1) + dt.timedelta(r.randrange((hi - lo) * 365)); s.v = {}

# --- numbers of persons
def ssn(r, p): return f"{r.choice([a for a in range(1, 773) if a != 666]):03d}-{r.randint(1, 99):02d}-{r.randint(1, 9999):04d}"
def nhs(r, p):
    while 1:
        s = "4" + dg(r, 8); c = -w11(s, range(10, 1, -1)) % 11
        if c != 10: return f"{s[:3]} {s[3:6]} {s[6:]}{c}"
def nino(r, p): return f"{ch(r, 'AB,CE,HJ,JK,LM,PR,SX,WK,YA,TN')} {dg(r,2)} {dg(r,2)} {dg(r,2)} {r.choice('ABCD')}"
def steuerid(r, p):
    d = list(D); r.shuffle(d); i, j = r.sample(range(10), 2); d[i] = d[j]
    if d[0] == "0": return steuerid(r, p)
    t = 10
    for c in d:
        t = (int(c) + t) % 10 or 10; t = t * 2 % 11
    return "".join(d) + str((11 - t) % 10)
def kvnr(r, p):
    a = r.choice(U); d = dg(r, 8); s = f"{ord(a)-64:02d}" + d; t = 0
    for i, c in enumerate(s):
        v = int(c) * (1 + i % 2); t += v - 9 if v > 9 else v
    return a + d + str(t % 10)
def svnr(r, p):
    while 1:
        a = str(r.randint(100, 999)); b = p.b.strftime("%d%m%y")
        c = w11(a + b, (3, 7, 9, 5, 8, 4, 2, 1, 6))
        if c < 10: return a + str(c) + b
def nir(r, p):
    s = f"{1 if p.m else 2}{p.b:%y%m}{r.randint(1, 95):02d}{r.randint(1, 900):03d}{r.randint(1, 999):03d}"
    s += f"{97 - int(s) % 97:02d}"; return " ".join((s[0], s[1:3], s[3:5], s[5:7], s[7:10], s[10:13], s[13:]))
TR = "TRWAGMYFPDXBNJZSQVHLCKE"
def dni(r, p):
    n = r.randrange(10**8)
    if r.random() < .12: k = r.randrange(3); n %= 10**7; return f"{'XYZ'[k]}{n:07d}{TR[(k * 10**7 + n) % 23]}"
    return f"{n:08d}{TR[n % 23]}"
def codf(r, p):
    def cod(s, name):
        s = "".join(c for c in asc(s).upper() if c in U); k = [c for c in s if c not in "AEIOU"]; v = [c for c in s if c in "AEIOU"]
        if name and len(k) > 3: k = [k[0], k[2], k[3]]
        return ("".join(k + v) + "XXX")[:3]
    s = cod(p.l, 0) + cod(p.f, 1) + f"{p.b:%y}" + "ABCDEHLMPRST"[p.b.month - 1] + f"{p.b.day + (0 if p.m else 40):02d}" + ch(r, "H501,F205,L219,A662,D612,G273,E463,L424") 
    odd = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23]
    t = sum((odd[int(c) if c in D else ord(c) - 65] if i % 2 == 0 else int(c) if c in D else ord(c) - 65) for i, c in enumerate(s))
    return s + U[t % 26]
def pesel(r, p):
    y = p.b.year; s = f"{y % 100:02d}{p.b.month + (20 if y > 1999 else 0):02d}{p.b.day:02d}{dg(r, 3)}{r.randrange(5) * 2 + p.m}"
    return s + str(-sum(int(a) * b for a, b in zip(s, (1, 3, 7, 9) * 3)) % 10)
def bsn(r, p):
    while 1:
        s = str(r.randint(10**7, 5 * 10**7 - 1)); c = w11("0" + s if len(s) < 8 else s, range(9, 1, -1))
        if c < 10: return s + str(c)
def pnr(r, p): s = luhn(f"{p.b:%y%m%d}{dg(r, 2)}{r.randrange(5) * 2 + p.m}"); return f"{p.b:%Y}{s[2:6]}-{s[6:]}"
def hetu(r, p):
    n = f"{r.randrange(2, 899) // 2 * 2 + p.m:03d}"
    return f"{p.b:%d%m%y}{'A' if p.b.year > 1999 else '-'}{n}" + "0123456789ABCDEFHJKLMNPRSTUVWXY"[int(f"{p.b:%d%m%y}{n}") % 31]
def ahv(r, p):
    s = "756" + dg(r, 9); c = -sum(int(a) * (1 + 2 * (i % 2)) for i, a in enumerate(s)) % 10; s += str(c)
    return f"{s[:3]}.{s[3:7]}.{s[7:11]}.{s[11:]}"
def iban(c, f, sp=True):
    def g(r, p):
        b = pat(r, f)
        if c == "BE": b = b[:10] + f"{int(b[:10]) % 97 or 97:02d}"
        if c == "ES":
            k = lambda x: str((-w11(x, (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)) % 11) % 10 if w11(x, (1, 2, 4, 8, 5, 10, 9, 7, 3, 6)) != 1 else 1)
            b = b[:8] + k("00" + b[:8]) + k(b[10:]) + b[10:]
        n = int("".join(str(int(x, 36)) for x in b + c + "00")); s = f"{c}{98 - n % 97:02d}{b}"
        return " ".join(s[i:i+4] for i in range(0, len(s), 4)) if sp else s
    return g
def card(r, p): x = ch(r, "4,51,53,55"); s = luhn(x + dg(r, 15 - len(x))); return " ".join(s[i:i+4] for i in range(0, 16, 4))
# --- names and contacts
def name(fmt):
    return lambda r, p: fmt.format(f=p.f, l=p.l, F=p.f.upper(), L=p.l.upper(), a=p.f[0], m=r.choice(U), t="")
def titled(r, p): return f"{ch(r, 'Herr,Herr Dr.,Herr Mag.') if p.m else ch(r, 'Frau,Frau Dr.,Frau Mag.')} {p.f} {p.l}"
def mail(r, p):
    if not asc(p.l).replace("-", "").isascii(): return f"{ch(r, 'panda,olive,kite,moss,comet')}{r.randint(100, 9999)}@example.com"
    return f"{asc(p.f)}{ch(r, ['.', '_', ''])}{asc(p.l)}{ch(r, ['', '', str(r.randint(1, 99))])}@{ch(r, 'example.com,mail.example,post.example.org,web.example.net')}"
def tel(*f): return lambda r, p: pat(r, r.choice(f))
def dob(f): return lambda r, p: p.b.strftime(f)
def addr(f): return lambda r, p: f.format(s=r.choice(N[p.c][4]), n=r.randint(1, 180), c=r.choice(N[p.c][3]), z=dg(r, 5), z4=dg(r, 4), x=pat(r, "??"), k=dg(r, 2))
# --- ordinary ones
def num(a, b, d=0, fmt="{}"): return lambda r, p: fmt.format(f"{r.uniform(a, b):.{d}f}")
def gau(m, s, d=1, lo=0): return lambda r, p: f"{max(lo, r.gauss(m, s)):.{d}f}"
def logn(m, s, d=2): return lambda r, p: f"{r.lognormvariate(m, s):.{d}f}"
def pick(s, w=None):
    v = s.split(",") if isinstance(s, str) else s
    return lambda r, p: r.choices(v, w or [1 / (1 + i) ** .7 for i in range(len(v))])[0]
def day(f, a=2019, b=2025): return lambda r, p: (dt.datetime(a, 1, 1) + dt.timedelta(seconds=r.randrange((b - a) * 365 * 86400))).strftime(f)
def seq(f, a=1): return lambda r, p, i: f.format(a + i)
def pers(f, a=0, k=7, m=100000): return lambda r, p: f.format((p.i * k + a) % m)
ICD = "I10,E11.9,J45.0,M54.5,F32.1,K21.0,N39.0,J06.9,I25.1,E78.5,G43.9,C50.9,I48.0,M17.1,F41.1,L40.0,K35.8,S72.0,H25.9,Z00.0"
def text(op, mid, end, names=0, rate=.3):
    """long-tailed notes: three parts at random and, in some, a name, a town, a telephone"""
    A, B, C = (x.split("/") for x in (op, mid, end))
    def g(r, p):
        s = f"{r.choice(A)} {r.choice(B)}, {r.choice(C)}"
        if r.random() < .6: s += f" ({r.randint(2, 60)} {r.choice(B)})"
        if names and r.random() < rate: s += f" – {p.f} {p.l}"
        return s + r.choice([".", "", "!", ".."])
    return g
def rare(base, *cells):  # an ordinary column, identifying cells put at fixed places afterwards
    g = pick(base); g.cells = cells; return g

def table(out, labels, file, c, n, visits, cols, lo=1931, hi=2012):
    r = random.Random("open" + file); ps = [P(r, c if isinstance(c, str) else r.choice(c), i, lo, hi) for i in range(n)]
    rows = [p for p in ps for _ in range(r.randint(*visits))]
    if visits[1] > 1: r.shuffle(rows)
    data, meta = [], []
    for col in cols:
        nm, spec, g = col[:3]; miss = col[3] if len(col) > 3 else 0; r = random.Random(file + nm)
        kind, land = spec.lstrip("+-@").split("|"); vals = []; no = r.choice(["", "", "n/a"])
        if spec[0] == "-" and not miss: miss = r.choice([0, 0, 0, .03, .1])
        for i, p in enumerate(rows):
            if "@" in spec:
                if nm not in p.v: p.v[nm] = g(r, p)
                v = p.v[nm]
            else: v = g(r, p, i) if g.__code__.co_argcount == 3 else g(r, p)
            vals.append(r.choice(["", "", no]) if miss and r.random() < miss else v)
        for k, x in enumerate(getattr(g, "cells", ())): vals[(r.randrange(20, len(vals) - 20) + k) % len(vals)] = x
        data.append(vals); meta.append({"name": nm, "identifying": spec[0] == "+", "kind": kind, "country": land})
    with open(os.path.join(out, file), "w", newline="", encoding="utf-8") as f:
        w = csv.writer(f); w.writerow([m["name"] for m in meta]); w.writerows(zip(*data))
    labels.append({"file": file, "rows": len(rows), "columns": meta})

T = []
def t(*a, **k): T.append((a, k))
one = (1, 1)
t("us_visits.csv", "US", 420, (1, 5), [
 ("MRN", "+@repeating_id|US", pers("{:07d}", 204417, 7919, 9999991)), ("First Name", "+@person_name|US", name("{f}")), ("last_name", "+@person_name|US", name("{l}")),
 ("SSN", "+@national_number|US", ssn, .02), ("birthDate", "+@birth_date|US", dob("%m/%d/%Y")), ("sex", "-@sex|US", lambda r, p: "MF"[not p.m]),
 ("zip3", "-@postcode|US", pick("730,741,681,937,436,837,454,100,606,941")), ("admit_date", "-visit_date|US", day("%m/%d/%Y")),
 ("dx", "-diagnosis_code|US", pick(ICD)), ("total_charges", "-amount|US", logn(7, 1))])
t("gp_list.csv", "GB", 640, one, [
 ("NHS No", "+national_number|GB", nhs), ("Patient", "+person_name|GB", name("{L}, {f}")), ("NI number", "+national_number|GB", nino, .3), ("DOB", "+birth_date|GB", dob("%d/%m/%Y")),
 ("Ethnic group", "-ethnicity|GB", pick("White British,Asian - Indian,Black African,Mixed,White Irish,Not stated")), ("BMI", "-measurement|GB", gau(27, 5)),
 ("Smoking status", "-category|GB", pick("Never smoked,Ex-smoker,Current smoker")), ("last_review", "-visit_date|GB", day("%d-%b-%Y"), .2), ("Post code", "+postcode_house|GB", lambda r, p: f"{r.randint(1, 120)} {ch(r, 'LS,BS,CF,DD,EX')}{r.randint(1, 19)} {pat(r, '#^^')}")])
t("klinik.csv", "DE", 380, (2, 5), [
 ("Patientennr", "+@repeating_id|DE", pers("PAT-{:06d}", 31, 1013, 999983)), ("Name", "+@person_name|DE", name("{l}, {f}")), ("Geb.-Datum", "+@birth_date|DE", dob("%d.%m.%Y")),
 ("VersNr", "+@insurance_number|DE", kvnr), ("Station", "-ward_code|DE", pick("1E1,1E2,2A1,2E5,3B,INT1,3E2,4E10")), ("Aufnahme", "-visit_date|DE", day("%d.%m.%Y")),
 ("Hauptdiagnose", "-diagnosis_code|DE", pick(ICD)), ("Verweildauer", "-duration|DE", lambda r, p: str(1 + int(r.expovariate(.2)))), ("Hinweis", "+free_text_with_rare_email|DE",
  rare("keine,unverändert,Kontrolle in 2 Wochen,Rücksprache", "bitte an b.tiedemann@post.example.org schicken")), ("Kreatinin", "-measurement|DE", gau(.95, .2, 2))])
t("ordination.csv", "AT", 520, one, [
 ("SVNR", "+national_number|AT", svnr), ("Anrede_Name", "+person_name|AT", titled), ("Mobil", "+phone|AT", tel("0664 *## ## ##", "+43 676 *######", "0699/1*## ####", "+43 1 *## ## ##"), .1),
 ("PLZ", "-postcode|AT", pick("4600,9500,3500,6900,8700,1010,1220")), ("Ort", "-city|AT", pick("Wels,Villach,Krems,Bregenz,Leoben,Wien")), ("Größe", "-measurement|AT", gau(172, 9, 0)),
 ("Befund", "+free_text|AT", text("Patient klagt über/Anamnese:/Seit drei Tagen/Verlauf gut,/Klinisch", "Schmerzen im Knie/Schwindel beim Aufstehen/trockener Husten/leichte Rötung am Unterarm/Schlafstörungen", "Röntgen veranlasst/Physiotherapie empfohlen/Kontrolle beim Hausarzt/Medikation angepasst/Überweisung ausgestellt", 1)),
 ("Raucher", "-yes_no|AT", pick("nein,ja,unbekannt")), ("RR", "-measurement|AT", lambda r, p: f"{r.randint(95, 180)}/{r.randint(55, 110)}")])
t("lohn.csv", "DE", 700, one, [
 ("steuer_id", "+national_number|DE", steuerid), ("konto", "+iban|DE", iban("DE", "#" * 18)), ("brutto", "-income|DE", lambda r, p: f"{r.lognormvariate(8.1, .4):,.2f}".translate(str.maketrans(",.", ".,"))),
 ("steuerklasse", "-category|DE", pick("1,4,3,5,2,6")), ("konfession", "-category|DE", pick("--,rk,ev")), ("E-Mail", "+email|DE", mail, .08), ("kinder", "-count|DE", pick("0,1,2,3,4")), ("bundesland", "-region|DE", pick("NW,BY,BW,NI,HE,SN,BE,HH")), ("eintritt", "-month|DE", day("%Y-%m", 1995))])
t("assures.csv", "FR", 450, (1, 4), [
 ("n_secu", "+@national_number|FR", nir), ("nom", "+@person_name|FR", name("{L}")), ("prénom", "+@person_name|FR", name("{f}")), ("né_le", "+@birth_date|FR", dob("%d/%m/%Y")), ("tél", "+@phone|FR", tel("06 ## ## ## ##", "07.##.##.##.##", "+33 6 ## ## ## ##", "01 4# ## ## ##"), .05),
 ("département", "-@region|FR", pick("44,21,87,76,38,75,13,2A,59")), ("remboursé", "-amount|FR", lambda r, p: f"{r.lognormvariate(3.5, 1):.2f}".replace(".", ",")), ("acte", "-product_code|FR", pick("C,CS,VGS,TCG,AMI4,DEQP003,HBQK002,YYYY600")), ("date_soins", "-visit_date|FR", day("%d/%m/%Y"))])
t("clientes.csv", "ES", 560, one, [
 ("dni_nie", "+national_number|ES", dni), ("titular", "+person_name|ES", name("{f} {l}")), ("móvil", "+phone|ES", tel("6*# ## ## ##", "+34 6*# ### ###", "6*#######")), ("cuenta", "+iban|ES", iban("ES", "#" * 20, False)),
 ("provincia", "-region|ES", pick("Madrid,Sevilla,Burgos,Murcia,Asturias,Lugo,Cádiz,León")), ("saldo", "-account_balance|ES", lambda r, p: f"{r.gauss(3000, 4000):.2f}"), ("antigüedad", "-duration|ES", lambda r, p: f"{r.randint(0, 30)} años"), ("segmento", "-category|ES", pick("particular,autónomo,pyme,joven"))])
t("anagrafe.csv", "IT", 600, one, [
 ("codice_fiscale", "+national_number|IT", codf), ("nominativo", "+person_name|IT", name("{L} {F}")), ("targa", "+licence_plate|IT", lambda r, p: pat(r, "^^###^^"), .15), ("residenza", "+address|IT", addr("{s} {n}, {z} {c} ({x})")),
 ("comune", "-city|IT", pick("Bari,Parma,Udine,Lecce,Trento,Firenze,San Donato Milanese")), ("reddito", "-income|IT", lambda r, p: str(int(r.lognormvariate(10, .5)))), ("stato_civile", "-category|IT", pick("coniugato/a,celibe/nubile,divorziato/a,vedovo/a")), ("titolo_studio", "-education|IT", pick("licenza media,diploma,laurea triennale,laurea magistrale,dottorato"))])
t("przychodnia.csv", "PL", 400, (1, 4), [
 ("PESEL", "+@national_number|PL", pesel), ("imię i nazwisko", "+@person_name|PL", name("{f} {l}")), ("telefon", "+@phone|PL", tel("60# ### ###", "+48 51# ### ###", "(22) *##-##-##"), .1), ("województwo", "-region|PL", pick("mazowieckie,łódzkie,pomorskie,lubelskie,opolskie,śląskie")),
 ("data_wizyty", "-visit_date|PL", day("%Y-%m-%d %H:%M")), ("wynik", "-measurement|PL", lambda r, p: f"{r.gauss(5.4, 1.1):.2f}".replace(".", ",")), ("uwagi", "+free_text_with_rare_phone|PL", rare("bez zmian,kontrola,do konsultacji,skierowanie wydane", "dzwonić do córki: +48 602 555 014", "tel. 22 555 01 73 po 16")), ("wiek", "-age|PL", lambda r, p: str(2025 - p.b.year))])
t("bewoners.csv", "NL", 480, one, [
 ("bsn", "+national_number|NL", bsn), ("achternaam", "+person_name|NL", name("{l}")), ("adres", "+postcode_house|NL", lambda r, p: f"{r.randint(1000, 9999)} {pat(r, '^^')} {r.randint(1, 240)}{ch(r, ['', '', 'a', '-2'])}"), ("geslacht", "-sex|NL", lambda r, p: "mv"[not p.m]), ("pc4", "-postcode|NL", pick("4811,8011,9401,2611,4001")),
 ("rekening", "+iban|NL", iban("NL", "RABO0#########"), .05), ("woz_waarde", "-amount|NL", lambda r, p: str(round(r.lognormvariate(12.6, .35) / 1000) * 1000)), ("huishouden", "-count|NL", pick("1,2,3,4,5,6")), ("energielabel", "-category|NL", pick("A,B,C,A+,D,E,F,G")), ("bijz", "+free_text_with_rare_name|NL", rare("geen,verhuisd,in onderzoek", "mevr. Willemijn Zijlstra gemachtigd"))])
t("registret.csv", "SE", 430, one, [
 ("personnummer", "+national_number|SE", pnr), ("namn", "+person_name|SE", name("{f} {l}")), ("e-post", "+email|SE", mail), ("kommun", "-city|SE", pick("Umeå,Lund,Örebro,Gävle,Malmö")), ("inkomst_tkr", "-income|SE", lambda r, p: f"{r.lognormvariate(5.8, .4):.1f}"), ("utbildning", "-education|SE", pick("gymnasium,grundskola,högskola,forskarutbildning")), ("betyg", "-rating|SE", pick("A,B,C,D,E,F"))])
t("potilaat.csv", "FI", 360, (1, 3), [
 ("hetu", "+@national_number|FI", hetu), ("nimi", "+@person_name|FI", name("{l} {f}")), ("puhelin", "+@phone|FI", tel("040 *## ####", "+358 50 *## ####", "09 *## ####")), ("kunta", "-city|FI", pick("Turku,Oulu,Kuopio,Espoo")), ("käynti", "-visit_date|FI", day("%d.%m.%Y klo %H.%M")), ("hb", "-measurement|FI", gau(138, 14, 0)), ("kieli", "-language|FI", pick("suomi,ruotsi,muu"))])
t("weblog.csv", "US", 300, (3, 9), [
 ("session", "+@uuid|-", lambda r, p: str(uuid.UUID(int=r.getrandbits(128), version=4))), ("client", "+@ip_address|-", lambda r, p: ".".join(str(r.randint(1, 254)) for _ in "1234")), ("profile", "+@url|-", lambda r, p: f"https://social.example/u/{asc(p.f)}-{asc(p.l)}{r.randint(1, 99)}"),
 ("path", "-page|-", pick("/,/login,/cart,/search,/help,/about,/api/v1/items,/checkout")), ("status", "-status_code|-", pick("200,304,404,302,500")), ("bytes", "-count|-", lambda r, p: str(int(r.lognormvariate(9, 1.5)))), ("ms", "-duration|-", logn(4, 1, 3)), ("ts", "-timestamp|-", day("%Y-%m-%dT%H:%M:%SZ", 2024)), ("browser", "-category|-", pick("Firefox 131.0,Chrome 129.0.6668,Safari 17.6,Edge 128.0.2739"))])
t("orders.csv", ["US", "GB"], 500, (1, 3), [
 ("ref", "+record_id|-", seq("SO-2024-{:06d}", 4210)), ("buyer", "+@email|US/GB", mail), ("pan", "+@card_number|-", card, .2), ("unit_price", "-amount|-", pick(["4.99", "9.95", "12.50", "19.99", "24.00", "49.90", "129.00", "349.00"])), ("currency", "-currency_code|-", pick("USD,GBP,EUR")),
 ("sku", "-product_code|-", lambda r, p: f"{'KBD,MSE,CAB,LMP,BAG'.split(',')[r.randrange(5)]}-{100 + r.randrange(14) * 5}"), ("product", "-product_name|-", lambda r, p: f"{ch(r, 'Oak,Steel,Linen,Walnut,Copper,Glass,Wool,Bamboo,Ash,Clay')} {ch(r, 'Lamp,Chair,Mug,Table,Rug,Clock,Shelf,Tray,Bowl,Stool,Vase,Bench,Frame,Hook')}"), ("qty", "-count|-", pick("1,2,3,4,5,10")), ("coupon", "-category|-", pick("SPRING10,WELCOME,VIP20,FREESHIP"), .6)])
t("survey.csv", "GB", 520, one, [
 ("x3", "+record_id|-", lambda r, p: f"{int(p.i * 48271 + 7) % 2147483647:08x}"), ("Q1", "-likert|GB", pick("Agree,Neutral,Disagree,Strongly agree,Strongly disagree")), ("Q2", "-rating|GB", pick("7,8,6,9,5,10,4,3,2,1")), ("Q3_reason", "-survey_answer|GB", pick(["I wanted to save money, and it was near my home", "A friend recommended it", "It was the only one open", "Better service than before", "No particular reason"])),
 ("Q9_open", "+free_text|GB", text("I thought/Honestly,/We were told that/My feeling is that/On the whole", "the waiting room was cold/the staff in reception were lovely/parking took twenty minutes/nobody answered the phone/the leaflet was confusing/the new system is slow", "please fix it soon/thank you anyway/I would come again/it used to be better/my mother agrees", 0), .3), ("age", "-age|GB", lambda r, p: str(2024 - p.b.year)), ("occupation", "-occupation|GB", pick("teacher,nurse,driver,retired,engineer,student,baker,cook,clerk,carpenter")), ("weight", "-score|-", num(.2, 3.2, 4))])
t("manifest.csv", ["US", "GB", "FR", "ES"], 600, one, [
 ("PAX", "+person_name|US/GB/FR/ES", lambda r, p: f"{p.l.upper()}/{p.f.upper()} {'MR' if p.m else ch(r, 'MS,MRS')}"), ("doc_no", "+passport|US/GB/FR/ES", lambda r, p: pat(r, {"US": "?########", "GB": "#########", "FR": "##??#####", "ES": "???######"}[p.c])), ("pnr", "+record_id|-", lambda r, p: pat(r, "^^#^^?")), ("flight", "-flight_number|-", pick("LH1234,BA0486,AF1780,IB3166,UA906,LH400")),
 ("orig", "-iata|-", pick("FRA,LHR,CDG,MAD,EWR,MUC")), ("dest", "-iata|-", pick("JFK,BCN,VIE,OSL,ATH,LIS,WAW")), ("nat", "-country_code|-", lambda r, p: {"US": "USA", "GB": "GBR", "FR": "FRA", "ES": "ESP"}[p.c]), ("fare", "-amount|-", logn(5.5, .6)), ("cabin", "-category|-", pick("Y,W,J,F")), ("bags_kg", "-measurement|-", gau(19, 6))])
t("fleet.csv", "DE", 480, one, [
 ("FIN", "+vehicle_id|DE", lambda r, p: ch(r, "WVW,WDB,WBA,WAU") + pat(r, "ZZZ#^Z#^######")), ("Kennzeichen", "+licence_plate|DE", lambda r, p: f"{ch(r, 'KS,BO,EF,MZ,HRO,UL,B,HH,M')}-{pat(r, r.choice(['?', '??']))} {r.randint(10, 9999)}"), ("Modell", "-car_model|DE", pick("Golf,Passat,C 220 d,320i,A4 Avant,ID.3,Polo,Sprinter")), ("Farbe", "-colour|DE", pick("schwarz,silber,weiß,blau,rot,grün")),
 ("km", "-count|DE", lambda r, p: str(int(r.lognormvariate(11, .7)))), ("EZ", "-month|DE", day("%m/%Y", 2008)), ("Kraftstoff", "-category|DE", pick("Diesel,Benzin,Elektro,Hybrid")), ("Preis", "-amount|DE", lambda r, p: f"{round(r.lognormvariate(9.7, .5), -1):.0f} €"), ("Zustand", "+free_text_with_rare_name|DE", rare("gut,unfallfrei,Gebrauchsspuren,Motorschaden", "Halter: Björn Grabowski", "an Silke Nußbaum verkauft"))])
t("claims.csv", "US", 340, (1, 4), [
 ("policy", "+@repeating_id|US", lambda r, p: pat(r, "???-#######")), ("claim_id", "+record_id|US", seq("{}", 7002391)), ("loss_date", "-event_date|US", day("%Y-%m-%d")), ("peril", "-category|US", pick("wind,hail,water,fire,theft")), ("paid", "-amount|US", lambda r, p: f"${r.lognormvariate(8, 1.1):,.2f}"),
 ("note", "+free_text_with_rare_name|US", rare("no change,closed,pending docs,re-opened,within limits,sent to review", "spoke with Savannah Crenshaw, will call back", "insured Darnell Whitfield disputes")), ("state", "-region|US", pick("OK,NE,CA,OH,ID,TX,FL")), ("ratio", "-percentage|US", num(0, 100, 1, "{}%"))])
t("lab.csv", "DE", 310, (2, 6), [
 ("barcode", "+record_id|-", lambda r, p: "40" + dg(r, 10)), ("subj", "+@repeating_id|-", lambda r, p: pat(r, "~~~~~~~~~~~~")), ("analyte", "-category|-", pick("GLU,NA,K,CREA,CRP,TSH,HBA1C")), ("value", "-measurement|-", logn(1.2, .8, 4)), ("unit", "-unit|-", pick("mg/dL,mmol/L,mU/L,%")), ("flag", "-category|-", pick("N,H,L,HH")), ("collected", "-timestamp|-", day("%Y-%m-%d %H:%M:%S", 2023)), ("fw", "-version|-", pick("4.12.3,4.12.4,5.0.1.2,3.9.10.44")), ("dilution", "-category|-", pick("1:1,1:2,1:10,1:100"))])
t("staff.csv", ["DE", "PL", "GB", "IT"], 460, one, [
 ("Personalnr", "+record_id|DE", pers("{:06d}", 100417, 31, 899981)), ("Mitarbeiter", "+person_name|DE/PL/GB/IT", name("{f} {m}. {l}")), ("login", "+user_name|-", lambda r, p: asc(p.f)[0] + asc(p.l)[:7] + str(p.i % 90 + 10)), ("Vorgesetzte/r", "+person_name|DE", lambda r, p: f"{r.choice(N['DE'][r.randrange(2)])} {r.choice(N['DE'][2])}", .05), ("Abteilung", "-department|DE", pick("Vertrieb,Einkauf,IT,Personal,Lager,Recht")),
 ("salary", "-income|-", lambda r, p: str(round(r.lognormvariate(10.8, .3) / 100) * 100)), ("Austritt", "-event_date|DE", day("%d.%m.%Y", 2015), .7), ("Stufe", "-category|DE", pick("E9,E10,E11,E5,E13")), ("Quote", "-score|-", num(0, 1, 4))], lo=1960, hi=2004)
t("export_pq.csv", "NL", 330, (1, 3), [
 ("field_12", "+@birth_date|-", dob("%Y-%m-%dT00:00:00")), ("guid", "+uuid|-", lambda r, p: "{" + str(uuid.UUID(int=r.getrandbits(128))).upper() + "}"), ("hash", "+@pseudonym|-", lambda r, p: "%064x" % r.getrandbits(256)), ("start", "-visit_date|-", day("%Y-%m-%dT00:00:00", 2021)), ("weekday", "-weekday|-", pick("Mon,Tue,Wed,Thu,Fri,Sat,Sun")), ("month", "-month|-", pick("March,April,May,June,July,August")), ("year", "-year|-", pick("2021,2022,2023,2024")), ("lat", "-coordinate|-", num(50.8, 53.4, 1)), ("atc", "-atc_code|-", pick("C07AB02,A10BA02,N02BE01,C09AA05,R03AC02"))])
t("praemien.csv", "CH", 420, one, [
 ("AHV-Nr.", "+national_number|CH", ahv), ("Versicherte Person", "+person_name|CH", name("{l} {f}")), ("Tel. privat", "+phone|CH", tel("+41 79 *## ## ##", "044 *## ## ##", "0041 76 *## ## ##"), .2), ("IBAN", "+iban|CH", iban("CH", "#" * 17)), ("Kanton", "-region|CH", pick("BE,GR,VD,ZH,AG,TI")), ("Franchise", "-amount|CH", pick("300,2500,500,1000,1500,2000")), ("Prämie", "-amount|CH", lambda r, p: f"CHF {r.gauss(380, 70):.2f}"), ("Modell", "-category|CH", pick("Hausarzt,Telmed,HMO,Standard"))])
t("kyaku.csv", ["JP", "GR"], 400, one, [
 ("氏名", "+person_name|JP/GR", name("{l} {f}")), ("電話", "+phone|JP", tel("090-*###-####", "03-*###-####", "+81 80 *### ####")), ("生年月日", "+birth_date|JP", dob("%Y年%m月%d日")), ("都道府県", "-region|JP", pick("東京都,大阪府,北海道,愛知県,福岡県")), ("購入額", "-amount|JP", lambda r, p: str(int(r.lognormvariate(8.5, 1)))), ("満足度", "-likert|JP", pick("満足,普通,やや不満,非常に満足,不満"))])
t("birthdays.csv", ["GR", "SE"], 350, (1, 2), [
 ("id", "+record_id|-", seq("{}")), ("ΑΣΘΕΝΗΣ", "+@person_name|GR/SE", name("{l} {a}.")), ("d1", "+@birth_date|-", dob("%Y%m%d")), ("d2", "-event_date|-", day("%Y%m%d", 2018)), ("device", "+@device_id|-", lambda r, p: ":".join(pat(r, "~~") for _ in "123456")), ("contact", "+@contact|-", lambda r, p: mail(r, p) if r.random() < .6 else pat(r, "+30 697# ### ###")), ("visits", "-count|-", pick("1,2,3,4,5,6,7,8")), ("colour", "-colour|-", pick("Rose,Violet,Ruby,Olive,Jade,Amber,Grey"))])
t("stations.csv", "IT", 900, one, [
 ("temp", "-measurement|-", lambda r, p: f"{r.gauss(14, 8):.2f}"), ("pressure_pa", "-measurement|-", lambda r, p: str(int(r.gauss(101300, 900)))), ("wind", "-category|-", pick("N,NE,E,SE,S,SW,W,NW")), ("city", "-city|IT", pick("Florence,Victoria,Charlotte,Lourdes,Siena,Sofia,Adelaide")), ("unix", "-timestamp|-", lambda r, p: str(r.randint(1672531200, 1735689600))), ("week", "-week|-", day("%G-W%V", 2022)), ("maint", "+free_text_with_rare_phone|IT", rare("none,cleaned,battery changed,calibrated", "key at custodian, 347 555 0192")), ("quality", "-category|-", pick("ok,suspect,missing,no change")), ("sigma", "-measurement|-", lambda r, p: f"{r.lognormvariate(-9, 1):.3e}")])
t("league.csv", "ES", 800, one, [
 ("equipo", "-team|ES", pick("San Martín,Real Unión,Santa Clara,Racing Norte,Atlético Sur")), ("puntos", "-count|ES", lambda r, p: str(int(r.gauss(48, 12)))), ("rank", "-rank|-", lambda r, p: str(r.randint(1, 300))), ("altura", "-measurement|ES", lambda r, p: f"{r.gauss(1.78, .08):.2f}".replace(".", ",") + " m"), ("temporada", "-season|ES", pick("2021/22,2022/23,2023/24,2024/25")), ("incidencia", "+free_text_with_rare_email|ES", rare("ninguna,tarjeta,lesión,aplazado", "acta a arbitro.lozano@mail.example")), ("hora", "-time_of_day|ES", pick("12:00,16:15,18:30,21:00")), ("idioma", "-language|ES", pick("es,ca,eu,gl")), ("valor_eur", "-amount|ES", lambda r, p: str(int(r.lognormvariate(14, 1.2))))])

def inss(r, p):
    b = f"{p.b:%y%m%d}{r.randint(1, 498) * 2 + p.m:03d}"[:9]; c = 97 - int(("2" if p.b.year > 1999 else "") + b) % 97
    return f"{b[:2]}.{b[2:4]}.{b[4:6]}-{b[6:9]}.{c:02d}"
def rvnr(r, p):
    a = p.l[0].translate(ASC).upper(); s = f"{ch(r, '12,13,15,53,65,66')}{p.b:%d%m%y}{a}{r.randint(0, 49) + (0 if p.m else 50):02d}"; t = 0
    for x, w in zip(s[:8] + f"{ord(a) - 64:02d}" + s[9:], (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1)):
        v = int(x) * w; t += v // 10 + v % 10
    return s + str(t % 10)
usfon = tel(*(f.format(a) for a in (918, 402, 559, 419, 208, 937) for f in ("({}) *##-####", "{}-*##-####", "+1 {} *## ####", "{}.*##.####")))
t("contacts.csv", ["GB", "US"], 420, (1, 3), [
 ("cust", "+@repeating_id|-", pers("C{:05d}", 12, 811, 99991)), ("Emergency contact", "+@contact|GB/US", lambda r, p: f"{r.choice(N[p.c][r.randrange(2)])} {p.l} ({pat(r, '077## ######')})"), ("fax", "+@phone|GB", tel("020 7*## ####", "+44 113 *## ####", "0117 9## ####"), .3), ("street", "+@address|GB/US", addr("{n} {s}")),
 ("maiden name", "+@person_name|GB/US", lambda r, p: r.choice(N[p.c][2]), .2), ("handle", "+@user_name|-", lambda r, p: f"@{asc(p.l)}_{asc(p.f)[:3]}{r.randint(1, 99)}", .25), ("remarks", "+free_text|GB", text("Called/Rang/Customer says/Visited:/Wrote that", "the boiler is leaking again/invoice was paid twice/wants to cancel in spring/dog in the yard/prefers mornings", "pass on to the depot/left a voicemail/no answer/engineer booked/sent a reminder", 1, .5), .1), ("channel", "-category|GB", pick("phone,web,letter,shop"))])
t("dossiers.csv", "BE", 390, one, [
 ("rijksregisternr", "+national_number|BE", inss), ("naam", "+person_name|BE", name("{L} {f}")), ("gsm", "+phone|BE", tel("047# ## ## ##", "+32 48# ## ## ##", "049#/##.##.##"), .1), ("straat en nr", "+address|BE", addr("{s} {n}, {z4} {c}")), ("rekeningnr", "+iban|BE", iban("BE", "#" * 12)),
 ("opmerking", "+free_text_with_rare_iban|BE", rare("geen,in orde,stukken ontbreken,afgesloten", "terugbetalen op BE71 0961 2345 6769")), ("provincie", "-region|BE", pick("Oost-Vlaanderen,Namen,Vlaams-Brabant,Luik")), ("bic", "-category|BE", pick("KREDBEBB,GEBABEBB,BBRUBEBB,AXABBE22")), ("bedrag", "-amount|BE", lambda r, p: f"€ {r.lognormvariate(5, .8):.2f}".replace(".", ","))])
t("devices.csv", ["US", "DE"], 310, (1, 4), [
 ("imei", "+@device_id|-", lambda r, p: luhn("35" + dg(r, 12))), ("v6", "+ip_address|-", lambda r, p: "2001:db8:" + ":".join(pat(r, "~~~~") for _ in "123456")), ("host", "+@device_id|-", lambda r, p: f"{asc(p.f)}s-{ch(r, 'macbook,laptop,iphone,pc')}-{r.randint(1, 9)}"), ("sn", "+@device_id|-", lambda r, p: pat(r, "^#^^?###^^#?")), ("link", "+url|-", lambda r, p: f"https://t.example.org/r?token={pat(r, '~' * 20)}"),
 ("os", "-category|-", pick("Android 14,iOS 17.5,Windows 11,Ubuntu 24.04")), ("rssi", "-measurement|-", lambda r, p: str(-r.randint(40, 110))), ("battery", "-percentage|-", lambda r, p: str(r.randint(1, 100))), ("uptime_s", "-duration|-", lambda r, p: str(int(r.lognormvariate(11, 1.4))))])
t("accounts_us.csv", "US", 550, one, [
 ("acct", "+account_number|US", lambda r, p: dg(r, 12)), ("DL no", "+licence_number|US", lambda r, p: pat(r, "?###-####-####"), .1), ("phone1", "+phone|US", usfon), ("mailing_address", "+address|US", addr("{n} {s} Apt {k}, {c} {z}")), ("dob_txt", "+birth_date|US", dob("%b %d, %Y")), ("co-applicant", "+person_name|US", name("Mr./Ms. {l}, {a}."), .5),
 ("risk", "-score|US", num(300, 850, 0)), ("apr", "-percentage|US", num(2, 29, 2, "{}%")), ("opened", "-event_date|US", day("%m/%d/%y", 2010)), ("balance", "-account_balance|US", lambda r, p: str(int(r.gauss(9000, 6000))))], hi=2005)
t("rente.csv", "DE", 400, (1, 3), [
 ("RVNR", "+@national_number|DE", rvnr), ("Az", "+record_id|DE", lambda r, p, i: f"{i % 9 + 1} S {1000 + i}/{20 + i % 5}"), ("Bearbeiter", "+person_name|DE", lambda r, p: f"{r.choice(N['DE'][r.randrange(2)])[0]}. {r.choice(N['DE'][2])}"), ("Vermerk", "+free_text|DE", text("Anruf von/Schreiben an/Rücksprache mit/Vorsprache:/Laut Akte", "Tochter wegen Bescheid/Betriebsrat zur Anrechnung/Klinik über Reha/Arbeitgeber zu Fehlzeiten/Bank wegen Rücklauf", "Unterlagen werden nachgereicht/Frist bis Monatsende/erledigt/Wiedervorlage/bitte Frau Raabe informieren", 1)),
 ("Tel", "+@phone|DE", tel("0561 ######", "0171/*######", "+49 (0)30 *#######", "0049 151 ########"), .1), ("gd", "+@birth_date|DE", dob("%d.%m.%y")), ("Rentenart", "-category|DE", pick("Alter,EM,Hinterbliebene")), ("EP", "-measurement|DE", lambda r, p: f"{r.gauss(33, 9):.4f}".replace(".", ",")), ("Zugang", "-event_date|DE", day("%d.%m.%y", 2012))], hi=1975)
t("dossiers_fr.csv", "FR", 360, (1, 3), [
 ("dossier", "+@repeating_id|FR", lambda r, p: f"D{p.i * 37 % 9973:04d}/{ch(r, 'A,B,C')}{p.i % 7}"), ("courriel", "+@email|FR", mail, .1), ("médecin traitant", "+@person_name|FR", lambda r, p: f"Dr {r.choice(N['FR'][r.randrange(2)])} {r.choice(N['FR'][2])}"), ("naissance", "+@birth_date|FR", dob("%Y%m%d")), ("commentaire", "+free_text|FR", text("Patient vu ce jour/Appel de la famille/Compte rendu/Suite au courrier/RAS", "fatigue depuis une semaine/douleur lombaire persistante/bonne tolérance du traitement/demande de certificat/sommeil difficile", "revoir dans un mois/bilan sanguin prescrit/adressé à un confrère/ordonnance renouvelée", 1, .25)),
 ("lien", "+free_text_with_rare_url|FR", rare("aucun,papier,à numériser", "voir https://drive.example.org/d/noemie-vasseur")), ("adresse", "+@address|FR", addr("{n} {s}, {z} {c}")), ("secteur", "-category|FR", pick("1,2,3")), ("montant", "-amount|FR", lambda r, p: f"{r.lognormvariate(4, .7):,.2f}".replace(",", " ").replace(".", ",")), ("jour", "-weekday|FR", pick("lundi,mardi,mercredi,jeudi,vendredi"))])
t("escuela.csv", "ES", 410, one, [
 ("alumno/a", "+person_name|ES", name("{l}, {f}")), ("tutor", "+person_name|ES", lambda r, p: f"{ch(r, 'D.,Dña.')} {r.choice(N['ES'][r.randrange(2)])} {p.l.split()[0]}"), ("tel_casa", "+phone|ES", tel("91 *## ## ##", "95*######", "+34 98* ## ## ##"), .1), ("nacimiento", "+birth_date|ES", dob("%d-%m-%Y")), ("correo familia", "+email|ES", mail, .2), ("observaciones", "+free_text|ES", text("En clase/Durante el recreo/La familia comenta que/Segundo trimestre:/A veces", "participa poco/ayuda mucho a sus compañeros/olvida los deberes/tiene alergia a los frutos secos/ha mejorado en lectura", "hablar con la orientadora/seguir así/reunión en mayo/pedir informe", 1, .2), .1),
 ("curso", "-category|ES", pick("1ºA,1ºB,2ºA,3ºC,4ºB")), ("nota_media", "-score|ES", num(3, 10, 2)), ("comedor", "-yes_no|ES", pick("sí,no")), ("faltas", "-count|ES", lambda r, p: str(int(r.expovariate(.2))))], lo=2008, hi=2017)

def main(out):
    os.makedirs(out, exist_ok=True); labels = []
    for a, k in T: table(out, labels, *a, **k)
    with open(os.path.join(out, "labels.json"), "w", encoding="utf-8") as f: json.dump({"tables": labels}, f, ensure_ascii=False, indent=1)
if __name__ == "__main__": main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "data"))
