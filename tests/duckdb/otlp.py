"""Reads requests as the Collector does, with OpenTelemetry's own types: unknown fields and wrong types are errors."""

import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

rows = []
for line in sys.stdin:
    request = json_format.Parse(line, ExportLogsServiceRequest())
    for resource in request.resource_logs:
        for scope in resource.scope_logs:
            for record in scope.log_records:
                values = {a.key: getattr(a.value, a.value.WhichOneof("value")) for a in record.attributes}
                rows.append({"event": record.event_name, "nanos": record.time_unix_nano, "values": values})
json.dump(rows, sys.stdout)
