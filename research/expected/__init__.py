"""How far what the advisor expects of a model is from what models reach, on tables of 5,000 records and more."""
