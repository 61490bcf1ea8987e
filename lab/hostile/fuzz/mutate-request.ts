import type { FuzzRequest, SeedRequest } from "./fuzz-request.ts";
import { HOSTILE_TEXTS } from "./hostile-values.ts";
import { mutateJson, mutateText } from "./mutate-json.ts";
import { drawElement, drawInteger, type RandomSource } from "./random-choice.ts";

const HOSTILE_HEADERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  ["a2a-version", ["0.3", "1.0", "2.0", "", "1", "1.0.9", "0.3, 1.0", "x".repeat(2000)]],
  [
    "content-type",
    [
      "text/plain",
      "application/json; charset=utf-16",
      "application/a2a+json",
      "",
      ";;;",
      "application/json;".repeat(200),
    ],
  ],
  ["content-encoding", ["gzip", "identity", "br, gzip"]],
  ["accept", ["text/event-stream", "*/*;q=x", "application/json;version=1.0", ""]],
  ["accept-encoding", ["gzip", "*;q=0"]],
  ["a2a-extensions", ["https://example.com/a, https://example.com/b", ",".repeat(3000), "urn:x", "é"]],
  ["last-event-id", ["5", "-1", "99999999999999999999", "x", "1.5", "0x10", " "]],
  ["authorization", ["Bearer x", "Basic eDp5", "Basic %%%", "Negotiate", "Bearer ".repeat(300)]],
  ["if-none-match", ["*", '"', 'W/"x"', `"${"x".repeat(4000)}"`]],
  ["traceparent", ["00-00000000000000000000000000000000-0000000000000000-00", "zz"]],
  ["origin", ["null", "https://evil.example", "http://localhost"]],
  ["expect", ["100-continue"]],
  ["host", ["evil@localhost", "localhost:99999", "[::1", "localhost", ""]],
  ["mcp-session-id", ["x", "../../../test", "undefined"]],
  ["mcp-protocol-version", ["2025-11-25", "1900-01-01", ""]],
  ["mcp-method", ["tools/call", "x"]],
  ["x-forwarded-proto", ["javascript", "https"]],
];
/** Node's HTTP client sends only Latin-1 without control characters in a header. */
const HOSTILE_HEADER_TEXTS = HOSTILE_TEXTS.filter((text) =>
  /^[\t\u0020-\u007E\u0080-\u00FF]*$/.test(text),
).map((text) => text.slice(0, 4000));
const HOSTILE_METHODS = ["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "PROPFIND"];

/** Returns a request that differs from a valid one in its body, path, query, headers, or method. */
export function mutateRequest(random: RandomSource, seed: SeedRequest): FuzzRequest {
  const { surface } = seed;
  const hasBody = seed.body !== undefined;
  const body = hasBody ? (random() < 0.85 ? mutateJson(random, seed.body) : JSON.stringify(seed.body)) : "";
  const mutatesPath = random() < (hasBody ? 0.1 : 0.8);
  return {
    surface,
    method: random() < 0.04 ? drawElement(random, HOSTILE_METHODS) : seed.method,
    path: mutatesPath ? mutatePath(random, seed.path) : seed.path,
    headers: random() < 0.25 ? mutateHeaders(random, seed.headers) : seed.headers,
    body,
  };
}

/** Changes a segment, a parameter, or some characters of a path. The result is a path that HTTP allows. */
function mutatePath(random: RandomSource, path: string): string {
  const [pathname = "", query] = path.split("?");
  const mutated = drawElement(random, [
    () => joinPath(replaceOne(random, pathname.split("/"), drawElement(random, HOSTILE_TEXTS)), query),
    () =>
      `${pathname}?${replaceOne(random, (query ?? "x=1").split("&"), drawElement(random, HOSTILE_TEXTS)).join("&")}`,
    () => `${pathname}?${mutateQuery(random, query ?? "historyLength=1")}`,
    () => `${pathname}?${mutateQuery(random, query ?? "A2A-Version=1.0")}`,
    () => `${pathname}/${query ?? ""}`,
    () => pathname.replaceAll("/", "//"),
    () => `${pathname}${pathname}`,
    () => mutateText(random, path),
  ])();
  return toHttpPath(mutated).slice(0, 12_000);
}

function joinPath(segments: readonly string[], query: string | undefined): string {
  return segments.join("/") + (query === undefined ? "" : `?${query}`);
}

function mutateQuery(random: RandomSource, query: string): string {
  const params = new URLSearchParams(query);
  const name = drawElement(random, [...params.keys(), "pageToken", "pageSize", "tenant", "id"]);
  const value = drawElement(random, HOSTILE_TEXTS);
  if (random() < 0.5) params.set(name, value);
  else params.append(name, value);
  return params.toString();
}

function replaceOne(random: RandomSource, texts: readonly string[], text: string): string[] {
  const index = drawInteger(random, texts.length);
  return texts.map((other, at) => (at === index ? text : other));
}

/** Percent-encodes what no HTTP client can send in a path. Percent signs stay, so that broken escapes occur. */
function toHttpPath(path: string): string {
  const encoded = path.replace(/[^\u0021-\u007E]/gu, (character) =>
    /[\uD800-\uDFFF]/u.test(character) ? "%ED%A0%80" : encodeURIComponent(character),
  );
  return encoded.startsWith("/") ? encoded : `/${encoded}`;
}

function mutateHeaders(
  random: RandomSource,
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const mutated = { ...headers };
  const count = 1 + drawInteger(random, 3);
  for (let done = 0; done < count; done++) {
    const [name, values] = drawElement(random, HOSTILE_HEADERS);
    if (random() < 0.2) delete mutated[name];
    else mutated[name] = drawElement(random, random() < 0.5 ? values : HOSTILE_HEADER_TEXTS);
  }
  return mutated;
}
