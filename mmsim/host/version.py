"""The version of mmsim."""

VERSION = "0.2.0"
