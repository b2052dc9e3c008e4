"""Side-by-side measurements of Anvil and its peers; each writes its report into the documents."""
