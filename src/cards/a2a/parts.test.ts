import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { getText } from "../../protocol/index.ts";
import { arbitraryCard, createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import { MESSAGE_CARD_EXTENSION_URI, findCardInMessage, toCardParts } from "./index.ts";

describe("a message card in the parts of a message", () => {
  it("is decoded unchanged and repeats its content as text", () => {
    fc.assert(
      fc.property(arbitraryCard, (card) => {
        expect(findCardInMessage({ parts: toCardParts(card) })).toEqual(card);
        expect(getText(toCardParts(card))).toBe(card.content);
      }),
    );
  });

  it("is found by its metadata if the data part has no media type, as in 0.3", () => {
    for (const card of createGsm8kExampleCards()) {
      const [{ data, metadata }, text] = toCardParts(card);
      expect(metadata).toEqual({ [`${MESSAGE_CARD_EXTENSION_URI}/type`]: card.message_type });
      expect(findCardInMessage({ parts: [text, { data, metadata: metadata! }] })).toEqual(card);
    }
  });

  it("is found by the extension of its message if the data part is unmarked, as in 0.3 over HTTP+JSON", () => {
    for (const card of createGsm8kExampleCards()) {
      const [{ data }, text] = toCardParts(card);
      expect(findCardInMessage({ parts: [text, { data }] })).toBeUndefined();
      expect(
        findCardInMessage({ parts: [{ data }, text], extensions: [MESSAGE_CARD_EXTENSION_URI] }),
      ).toEqual(card);
    }
    expect(
      findCardInMessage({ parts: [{ text: "18" }], extensions: [MESSAGE_CARD_EXTENSION_URI] }),
    ).toBeUndefined();
  });

  it("is not found in plain parts", () => {
    expect(findCardInMessage({ parts: [] })).toBeUndefined();
    expect(findCardInMessage({ parts: [{ text: "18" }, { data: { sender: "planner" } }] })).toBeUndefined();
  });

  it("is rejected if it is invalid or if there are two", () => {
    const [card] = createGsm8kExampleCards();
    const [part] = toCardParts(card!);
    expect(() => findCardInMessage({ parts: [{ ...part, data: { sender: "planner" } }] })).toThrow(
      "recipient: is required",
    );
    expect(() => findCardInMessage({ parts: [part, part] })).toThrow("more than one card");
  });
});
