import type { Guard } from "./guard.ts";

/** Guards of the client against hostile servers. */
export const CLIENT_GUARDS: readonly Guard[] = [
  {
    name: "response-json-values",
    file: "src/client/http/parse-response-json.ts",
    find: "text.length > maxJsonValues && ",
    replace: "text.length < 0 && ",
    noticedBy: { attack: "many-parts-in-answer" },
  },
  {
    name: "linear-strip-of-characters",
    file: "src/protocol/host-and-port.ts",
    find: "while (end > 0 && characters.includes(text.charAt(end - 1))) end -= 1;",
    replace: 'return text.replace(new RegExp(`[${characters}]+$`), "");',
    noticedBy: { attack: "oauth-issuer-of-slashes" },
  },
  {
    name: "card-url-length",
    file: "src/client/card/decode-card.ts",
    find: "  assertInterfaceLimits(supportedInterfaces);",
    replace: "",
    noticedBy: { attack: "card-with-long-url" },
  },
  {
    name: "card-size",
    file: "src/client/transport/send-http-request.ts",
    find: "if (maxResponseBytes < MAX_CARD_BYTES) return",
    replace: "if (maxResponseBytes > 0) return",
    noticedBy: { attack: "endless-card" },
  },
  {
    name: "call-deadline",
    file: "src/client/http/deadline.ts",
    find: "if (timeoutMs === Infinity) return await work(signal);",
    replace: "return await work(signal);",
    noticedBy: { attack: "answer-drips" },
  },
  {
    name: "stream-idle-deadline",
    file: "src/client/http/fetch-without-redirects.ts",
    find: "if (idleTimeoutMs === Infinity) return await reader.read();",
    replace: "return await reader.read();",
    noticedBy: { attack: "stream-falls-silent" },
  },
  {
    name: "card-origin",
    file: "src/client/trusted-origins.ts",
    find: 'if (trustedOrigins === "any") return undefined;',
    replace: "return undefined;",
    noticedBy: { attack: "card-names-other-origin" },
  },
  {
    name: "streamed-task-size",
    file: "src/client/stream/resumable-stream.ts",
    find: "        taskSize.add(received);",
    replace: "",
    noticedBy: { attack: "endless-answer" },
  },
  {
    name: "repeated-events",
    file: "src/client/stream/resumable-stream.ts",
    find: " || Number(id) <= this.#highestEventNumber;",
    replace: ";",
    noticedBy: { test: "src/client/stream/resumable-stream.test.ts" },
  },
  {
    name: "mcp-redirects",
    file: "src/agents/mcp/mcp-connection.ts",
    find: "next?.origin !== target.origin",
    replace: "next === null",
    noticedBy: { test: "src/agents/mcp/mcp-tool-client.test.ts" },
  },
];
