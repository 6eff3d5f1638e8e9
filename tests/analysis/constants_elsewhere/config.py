API_ROOT = "https://api.example.org/v2"
