"""Runs the detectors of Strands Evals over one session, as its documentation does, and prints what it took as JSON.

usage: run_detectors.py SESSION ENDPOINT   (a Bedrock runtime that answers Converse)
"""

import json
import sys
import time
from importlib.metadata import version

from botocore.config import Config
from strands.models.bedrock import BedrockModel
from strands_evals.detectors import analyze_root_cause, detect_failures
from strands_evals.types.trace import Session

file, endpoint = sys.argv[1:]
with open(file, encoding="utf-8") as source:
    session = Session.model_validate_json(source.read())
model = BedrockModel(
    model_id="stub",
    endpoint_url=endpoint,
    region_name="us-east-1",
    streaming=False,
    boto_client_config=Config(retries={"max_attempts": 1}, read_timeout=60),
)
begun = time.perf_counter()
found = detect_failures(session, model=model)
detected = time.perf_counter()
causes = analyze_root_cause(session, failures=found.failures, model=model)
explained = time.perf_counter()
print(
    json.dumps(
        {
            "version": version("strands-agents-evals"),
            "detectionSeconds": detected - begun,
            "wholeSeconds": explained - begun,
            "failures": len(found.failures),
            "rootCauses": len(causes.root_causes),
        }
    )
)
