"""What travels between the services and to their clients: frozen models with lowerCamelCase names."""
