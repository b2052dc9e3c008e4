"""`make docs`: writes the pages that are made from the code."""

from tests.documents.configuration import PAGE, page

if __name__ == "__main__":
    PAGE.write_text(page())
