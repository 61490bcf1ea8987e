import { describe, expect, it } from "vitest";
import { chooseConsoleToken } from "./console-token.ts";

/** Chooses a token, and returns it together with the number of questions to the user. */
function choose(stored: string | undefined, linked: string | undefined, answer = true): unknown[] {
  let questions = 0;
  const confirm = (): boolean => {
    questions++;
    return answer;
  };
  return [chooseConsoleToken({ stored, linked, confirm }), questions];
}

describe("the token of the console page", () => {
  it("comes from the link or from the tab without a question, if they do not differ", () => {
    expect(choose(undefined, undefined)).toEqual([undefined, 0]);
    expect(choose("a", undefined)).toEqual(["a", 0]);
    expect(choose(undefined, "a")).toEqual(["a", 0]);
    expect(choose("a", "a")).toEqual(["a", 0]);
  });

  it("changes only if the user confirms that the link replaces the session [SEC-85]", () => {
    expect(choose("a", "b", true)).toEqual(["b", 1]);
    expect(choose("a", "b", false)).toEqual(["a", 1]);
  });
});
