import type { Guard } from "./guard.ts";

/** Guards of the console against its callers. */
export const CONSOLE_GUARDS: readonly Guard[] = [
  {
    name: "console-relative-redirect",
    file: "src/studio/console/console.ts",
    find: "location: `console/${search}`",
    replace: "location: new URL(`${pathname}/${search}`, request.url).href",
    noticedBy: { test: "src/studio/console/console-safety.test.ts" },
  },
  {
    name: "console-session-key",
    file: "src/studio/console/page-sessions.ts",
    find: 'if (!value || !isSameSecret(headers.get(CONSOLE_KEY_HEADER) ?? "", this.#sign(value))) return undefined;',
    replace: "if (!value) return undefined;",
    noticedBy: { test: "src/studio/console/page-sessions.test.ts" },
  },
  {
    name: "console-body-size",
    file: "src/studio/console/read-json-body.ts",
    find: "maxBytes: number = MAX_SMALL_BODY_BYTES",
    replace: "maxBytes: number = MAX_MESSAGE_BYTES",
    noticedBy: { test: "src/studio/console/console-limits.test.ts" },
  },
  {
    name: "console-url-length",
    file: "src/studio/console/remote-agent-registry.ts",
    find: "url && url.length <= MAX_URL_LENGTH",
    replace: "url",
    noticedBy: { test: "src/studio/console/console-limits.test.ts" },
  },
  {
    name: "console-json-value-count",
    file: "src/studio/console/read-json-body.ts",
    find: "parseBoundedJson(new",
    replace: "JSON.parse(new",
    noticedBy: { attack: "console-many-json-values" },
  },
  {
    name: "stream-request-bytes",
    file: "src/server/node-listener.ts",
    find: "if (!isEventStream) byteAccount?.releaseBodyBytes();",
    replace: "byteAccount?.releaseBodyBytes();",
    noticedBy: { test: "src/studio/console/console-limits.test.ts" },
  },
  {
    name: "console-added-agents",
    file: "src/studio/console/remote-agent-registry.ts",
    find: "this.#addedIds.size >= MAX_ADDED_AGENTS",
    replace: "this.#addedIds.size < 0",
    noticedBy: { test: "src/studio/console/console-limits.test.ts" },
  },
];
