# The gateway as the client of the suite's server, whose address is the last argument.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir "$dir/shared-agent-rules"
cat >"$dir/shared-agent-rules/policy.yaml" <<POLICY
version: 1
hosts: { claude-code: {} }
servers:
  suite:
    url: $1
    via: gateway
    tools: { add_numbers: { confers: [docs.search] }, test_reconnection: { confers: [docs.search] } }
POLICY
cd "$dir"
{
  echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
  echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  echo '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add_numbers","arguments":{"a":5,"b":3}}}'
  echo '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"test_reconnection","arguments":{}}}'
  sleep 3
} | "$ROLECAST" serve --eager
