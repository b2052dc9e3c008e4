"""What Google Cloud does around the services, as far as its documents tell: Cloud Tasks and Cloud Run's front end."""
