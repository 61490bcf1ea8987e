import { describe, expect, it } from "vitest";
import { keyOf, recentConversations } from "./conversations.ts";

const at = (contextId: string, principal = "") => ({ tenant: "", principal, contextId });

describe("conversations in memory", () => {
  it("keep what was said, in order, each for itself", async () => {
    const kept = recentConversations<string>(() => true);
    await kept.append(at("a"), ["1", "2"]);
    await kept.append(at("b"), ["x"]);
    await kept.append(at("a"), ["3"]);
    expect([await kept.load(at("a")), await kept.load(at("b")), await kept.load(at("c"))]).toEqual([
      ["1", "2", "3"],
      ["x"],
      [],
    ]);
  });

  it("show a context to nobody but its caller", async () => {
    const kept = recentConversations<string>(() => true);
    await kept.append(at("a", "ada"), ["secret"]);
    expect([await kept.load(at("a")), await kept.load(at("a", "bob"))]).toEqual([[], []]);
    // Nor to one who names a context as another's place is written.
    expect(await kept.load(at(keyOf(at("a", "ada"))))).toEqual([]);
  });

  it("are bounded, and what is left begins with what a user said", async () => {
    const kept = recentConversations<string>((said) => said.startsWith("user"), {
      conversations: 4,
      messages: 3,
    });
    await kept.append(at("a"), ["user 1", "agent 1", "user 2", "agent 2"]);
    expect(await kept.load(at("a"))).toEqual(["user 2", "agent 2"]);
    for (let n = 0; n < 10; n++) await kept.append(at(`more ${n}`), ["user"]);
    expect(await kept.load(at("a"))).toEqual([]);
  });

  it("are bounded in what they take of memory, however long what is said", async () => {
    const long = "x".repeat(400);
    const kept = recentConversations<{ text: string; bytes?: Uint8Array }>(() => true, { size: 1_000 });
    for (const n of [1, 2, 3]) await kept.append(at("a"), [{ text: `${n}${long}` }]);
    expect((await kept.load(at("a"))).map(({ text }) => text[0])).toEqual(["2", "3"]);
    await kept.append(at("b"), [{ text: "b", bytes: new Uint8Array(400) }]);
    // The conversation that nobody has gone on with for longest is forgotten first.
    expect([await kept.load(at("a")), (await kept.load(at("b"))).length]).toEqual([[], 1]);
    await kept.append(at("b"), [{ text: "x".repeat(2_000) }]);
    expect(await kept.load(at("b"))).toEqual([]);
  });
});
