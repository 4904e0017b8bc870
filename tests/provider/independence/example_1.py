"""Figure 1 of Tao et al. 2010, in thousands, with an unchanged column of texts that are easily corrupted."""

EXAMPLE_1 = '''Age,Occupation,Income,Food
30~50,CEO,25,0.10
30~50,Salesman,4, a\x20
30~50,Prof,10,"x,""y"""
> 50,Prof,20,"two
lines"
30~50,Prof,11,0.10
< 30,Prof,6,
< 30,Manager,18,b
< 30,Manager,13,b
< 30,Manager,7,1.0
30~50,Prof,15,1.00
30~50,Prof,9,1
30~50,Prof,6,c
'''
