import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { deriveAgentId, isAgentId } from "./derive-agent-id.ts";

describe("the id of an agent", () => {
  it.each([
    ["weather_agent", "weather_agent"],
    ["WeatherAgent", "WeatherAgent"],
    ["Weather agent", "weather-agent"],
    ["  Köln: Wetter!  ", "koln-wetter"],
    ["날씨", "agent-93576275"],
    ["", "agent-811c9dc5"],
  ])("for the name %j is %s", (name, id) => {
    expect(deriveAgentId(name)).toBe(id);
  });

  it("is valid in a URL, and its own id", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), (name) => {
        const id = deriveAgentId(name);
        expect([isAgentId(id), deriveAgentId(id), encodeURIComponent(id)]).toEqual([true, id, id]);
      }),
    );
  });
});
