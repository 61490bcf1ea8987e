import * as fc from "fast-check";
import { expect, it } from "vitest";
import { formatMcpTaskId, parseMcpTaskId } from "./mcp-task-id.ts";

const nonEmptyText = fc.string({ minLength: 1, unit: "grapheme" });

it("parses the id that it formats, which is safe in an HTTP header", () => {
  fc.assert(
    fc.property(nonEmptyText, nonEmptyText, fc.nat(8.64e15), (agentId, taskId, createdAtMs) => {
      const reference = { agentId, taskId, createdAtMs };
      const id = formatMcpTaskId(reference);
      expect(id).toMatch(/^[\x21-\x7e]+$/);
      expect(parseMcpTaskId(id)).toEqual(reference);
    }),
  );
});

it.each(["", "a", "a:b", "a:b:", ":b:1", "a::1", "a:b:1:2", "a:b:-1", "%:b:1", "a:b:zzzzzzzzzzzz"])(
  "does not parse %j",
  (id) => expect(parseMcpTaskId(id)).toBeUndefined(),
);

it("parses or rejects any text", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const formatTime = (): string => new Date(parseMcpTaskId(text)?.createdAtMs ?? 0).toISOString();
      expect(formatTime).not.toThrow();
    }),
  );
});
