"""What disclosure control costs: how much worse the advice on inexact counts is."""
