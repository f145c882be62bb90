"""Verdicts, paper tables, benchmarks, sweeps and GPU results, as tables and pages."""
