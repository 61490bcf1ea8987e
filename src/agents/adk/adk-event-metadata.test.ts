import { describe, expect, it } from "vitest";
import { fromEventMetadata, toActionsMetadata, toEventMetadata } from "./adk-event-metadata.ts";
import type { AdkEvent } from "./adk-structural-types.ts";

const FIELDS = [
  "invocationId",
  "author",
  "branch",
  "citationMetadata",
  "groundingMetadata",
  "usageMetadata",
  "customMetadata",
  "errorCode",
];

describe("the metadata of an ADK event", () => {
  it.each([undefined, null, ""])("have no keys for fields that are %j", (value) => {
    const event = Object.fromEntries(FIELDS.map((field) => [field, value])) as AdkEvent;
    expect(Object.keys(toEventMetadata(event))).toEqual([]);
    expect(Object.keys(toActionsMetadata({ actions: { escalate: false, transferToAgent: "" } }))).toEqual([]);
  });

  it.each(["text", 1, true, ["list"]])("set no field if a peer sends %j instead of an object", (value) => {
    const names = ["citation_metadata", "grounding_metadata", "usage_metadata", "custom_metadata"];
    const metadata = Object.fromEntries(names.map((name) => [`adk_${name}`, value]));
    expect(fromEventMetadata(metadata)).toStrictEqual({});
  });
});
