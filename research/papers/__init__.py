"""The figures of the founding papers, measured on other tables, and which of the papers' claims hold.

The papers have the names of the files of `../shared/papers`: `000` is the paper on Aegis (SIGMOD 2025), `001` the note
on independence masking (ICDE 2010), `002` the one on generated tables (WSDM 2021), `003` a draft of 000. Only their
texts are there.
"""
