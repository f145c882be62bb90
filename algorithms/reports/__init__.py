"""The papers' tables computed again, and the ledger of their claims."""
