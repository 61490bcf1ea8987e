import { describe, expect, it } from "vitest";
import { encodeConversationKey, createMemoryConversationStore } from "./conversation-store.ts";

const createConversationKey = (contextId: string, principal = "") => ({ tenant: "", principal, contextId });

describe("conversations in memory", () => {
  it("keep their messages in order, separately", async () => {
    const kept = createMemoryConversationStore<string>(() => true);
    await kept.append(createConversationKey("a"), ["1", "2"]);
    await kept.append(createConversationKey("b"), ["x"]);
    await kept.append(createConversationKey("a"), ["3"]);
    expect([
      await kept.load(createConversationKey("a")),
      await kept.load(createConversationKey("b")),
      await kept.load(createConversationKey("c")),
    ]).toEqual([["1", "2", "3"], ["x"], []]);
  });

  it("belong to their caller", async () => {
    const kept = createMemoryConversationStore<string>(() => true);
    await kept.append(createConversationKey("a", "ada"), ["secret"]);
    expect([
      await kept.load(createConversationKey("a")),
      await kept.load(createConversationKey("a", "bob")),
    ]).toEqual([[], []]);
    // A context id that looks like an encoded key does not match that key either.
    expect(
      await kept.load(createConversationKey(encodeConversationKey(createConversationKey("a", "ada")))),
    ).toEqual([]);
  });

  it("are limited in length, and start with a user message", async () => {
    const kept = createMemoryConversationStore<string>((output) => output.startsWith("user"), {
      maxConversations: 4,
      maxMessages: 3,
    });
    await kept.append(createConversationKey("a"), ["user 1", "agent 1", "user 2", "agent 2"]);
    expect(await kept.load(createConversationKey("a"))).toEqual(["user 2", "agent 2"]);
    for (let n = 0; n < 10; n++) await kept.append(createConversationKey(`more ${n}`), ["user"]);
    expect(await kept.load(createConversationKey("a"))).toEqual([]);
  });

  it("are limited in size", async () => {
    const long = "x".repeat(400);
    const kept = createMemoryConversationStore<{ text: string; bytes?: Uint8Array }>(() => true, {
      maxSize: 1_000,
    });
    for (const n of [1, 2, 3]) await kept.append(createConversationKey("a"), [{ text: `${n}${long}` }]);
    expect((await kept.load(createConversationKey("a"))).map(({ text }) => text[0])).toEqual(["2", "3"]);
    await kept.append(createConversationKey("b"), [{ text: "b", bytes: new Uint8Array(400) }]);
    // The least recently used conversation is removed first.
    expect([
      await kept.load(createConversationKey("a")),
      (await kept.load(createConversationKey("b"))).length,
    ]).toEqual([[], 1]);
    await kept.append(createConversationKey("b"), [{ text: "x".repeat(2_000) }]);
    expect(await kept.load(createConversationKey("b"))).toEqual([]);
  });
});
