"""What the services must agree on. Imports none of them."""
