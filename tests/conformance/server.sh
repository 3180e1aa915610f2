# The server that the public suite wants to find: tools of the names and answers that its scenarios ask for.
pixel=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==
sound=UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=
tool() { printf '{"name":"%s","description":"One of the suite.","inputSchema":{"type":"object","properties":{%s}}}' "$1" "$2"; }
text() { printf '{"content":[{"type":"text","text":"%s"}]%s}' "$1" "$2"; }
image="{\"type\":\"image\",\"data\":\"$pixel\",\"mimeType\":\"image/png\"}"
resource='{"type":"resource","resource":{"uri":"test://embedded-resource","mimeType":"text/plain","text":"This is an embedded resource content."}}'
dialect='{"name":"json_schema_2020_12_tool","description":"Tool with JSON Schema 2020-12 features","inputSchema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","$defs":{"address":{"type":"object","properties":{"street":{"type":"string"},"city":{"type":"string"}}}},"properties":{"name":{"type":"string"},"address":{"$ref":"#/$defs/address"}},"additionalProperties":false}}'
prompt='"prompt":{"type":"string"}'
message='"message":{"type":"string"}'
list="$(tool test_simple_text),$(tool test_image_content),$(tool test_audio_content),$(tool test_embedded_resource)"
list="$list,$(tool test_multiple_content_types),$(tool test_tool_with_logging),$(tool test_error_handling)"
list="$list,$(tool test_tool_with_progress),$(tool test_sampling "$prompt"),$(tool test_elicitation "$message")"
list="$list,$(tool test_elicitation_sep1034_defaults),$(tool test_elicitation_sep1330_enums),$(tool test_reconnection),$dialect"
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%[!0-9]*}
  say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
  tell() { printf '{"jsonrpc":"2.0","method":"%s","params":%s}\n' "$1" "$2"; }
  # What it asks its client is refused; it says so, as it must.
  ask() {
    printf '{"jsonrpc":"2.0","id":"q","method":"%s","params":{}}\n' "$1"
    read -r reply
    case $reply in *'"error"'*) say "$(text "the client does not support $1" ',"isError":true')" ;; *) say "$(text answered)" ;; esac
  }
  case $line in
    *'"method":"initialize"'*) say '{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}' ;;
    *'"method":"logging/setLevel"'*) say '{}' ;;
    *'"method":"tools/list"'*) say "{\"tools\":[$list]}" ;;
    *'"name":"test_simple_text"'*) say "$(text 'This is a simple text response for testing.')" ;;
    *'"name":"test_image_content"'*) say "{\"content\":[$image]}" ;;
    *'"name":"test_audio_content"'*) say "{\"content\":[{\"type\":\"audio\",\"data\":\"$sound\",\"mimeType\":\"audio/wav\"}]}" ;;
    *'"name":"test_embedded_resource"'*) say "{\"content\":[$resource]}" ;;
    *'"name":"test_multiple_content_types"'*)
      say "{\"content\":[{\"type\":\"text\",\"text\":\"Multiple content types test:\"},$image,$resource]}" ;;
    *'"name":"test_error_handling"'*) say "$(text 'This tool intentionally returns an error for testing' ',"isError":true')" ;;
    *'"name":"test_tool_with_logging"'*)
      for step in started running completed; do tell notifications/message "{\"level\":\"info\",\"data\":\"Tool $step\"}"; done
      say "$(text done)" ;;
    *'"name":"test_tool_with_progress"'*)
      token=${line#*\"progressToken\":}
      token=${token%%[!0-9]*}
      for step in 0 50 100; do tell notifications/progress "{\"progressToken\":$token,\"progress\":$step,\"total\":100}"; done
      say "$(text done)" ;;
    *'"name":"test_sampling"'*) ask sampling/createMessage ;;
    *'"name":"test_elicitation'*) ask elicitation/create ;;
    *'"name":'*) say "$(text done)" ;;
  esac
done
