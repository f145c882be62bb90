"""The version of mmsim."""

VERSION = "0.1.0"
