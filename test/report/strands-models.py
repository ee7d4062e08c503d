"""Loads exports of Rootspan in the models of Strands Evals; prints what was loaded as JSON.

usage: strands-models.py EXPORT CASES   (`-f strands`, `-f strands-cases`)
"""

import json
import sys

from strands_evals import Experiment
from strands_evals.detectors import DiagnosisResult, FailureOutput, RCAOutput

with open(sys.argv[1], encoding="utf-8") as file:
    export = json.load(file)
with open(sys.argv[2], encoding="utf-8") as file:
    cases = json.load(file)
found = FailureOutput.model_validate(export)
causes = RCAOutput.model_validate(export)
result = DiagnosisResult.model_validate(export)
experiment = Experiment.from_dict(cases)
print(
    json.dumps(
        {
            "failures": [failure.model_dump() for failure in found.failures],
            "rootCauses": len(causes.root_causes),
            "recommendations": result.recommendations,
            "cases": [[case.name, case.input, case.expected_assertion] for case in experiment.cases],
        }
    )
)
