import { expect, it } from "vitest";
import type { Part } from "../protocol/index.ts";
import type { AgentEvent } from "./agent.ts";
import { toTaskEventFromAgent } from "./to-task-event.ts";

const ids = { taskId: "T", contextId: "C" };
const convert = (part: unknown): unknown =>
  toTaskEventFromAgent(
    { ...ids, getNextStatusTimestamp: () => "2026-01-01T00:00:00.000Z" },
    { artifact: { artifactId: "a", parts: [part as Part] } } satisfies AgentEvent,
    () => "id",
  );

it.each<Part>([
  { text: "" },
  { raw: "aGk=", mediaType: "text/plain" },
  { url: "https://example.com/a.png", filename: "a.png" },
  { data: null },
  { data: [1, { a: false }] },
])("an artifact may contain the part %j", (part) => {
  expect(convert(part)).toEqual({
    artifactUpdate: { ...ids, artifact: { artifactId: "a", parts: [part] } },
  });
});

it.each([
  { text: 1 },
  { raw: new Uint8Array(1) },
  { url: new URL("https://example.com/") },
  { data: undefined },
  {},
])("an artifact must not contain the part %j", (part) => {
  expect(() => convert(part)).toThrow(`a part of artifact a needs "text", "raw", "url" or JSON "data"`);
});
