import { describe, expect, it } from "vitest";
import { recordedText, SCRIPTS } from "../../cards/record/record.fixture.ts";
import { directoryWith, inProcess } from "../process.contract.ts";

describe("the files of a run", () => {
  it("may be several, of its processes, and are one run then", async () => {
    const of = (...roles: string[]): string => recordedText(SCRIPTS, { roles });
    const cwd = await directoryWith({
      "all.cards.jsonl": recordedText(),
      "controller.cards.jsonl": of("controller"),
      "planner.cards.jsonl": of("planner"),
      "solver.cards.jsonl": of("solver"),
    });
    const files = ["controller", "planner", "solver"].map((role) => `${cwd}/${role}.cards.jsonl`);
    const { out } = await inProcess(["cards", "stats", ...files, "--json"]);
    expect(out).toBe((await inProcess(["cards", "stats", `${cwd}/all.cards.jsonl`, "--json"])).out);
  });

  it("are refused by name when they are missing, are none of ours, or are of several runs", async () => {
    const cwd = await directoryWith({
      "a.cards.jsonl": recordedText(SCRIPTS, { run_id: "a" }),
      "b.cards.jsonl": recordedText(SCRIPTS, { run_id: "b" }),
      "app.log": "hello\n",
    });
    const { code, err } = await inProcess(["cards", "stats", `${cwd}/none`]);
    expect(code).toBe(1);
    expect(err).toContain(`${cwd}/none: there is no such file. To do: name a record`);
    expect((await inProcess(["cards", "stats", `${cwd}/app.log`])).err).toContain(
      "app.log: there is no line",
    );
    const two = await inProcess(["cards", "stats", `${cwd}/a.cards.jsonl`, `${cwd}/b.cards.jsonl`]);
    expect(two).toMatchObject({ code: 2, err: expect.stringContaining("several runs: a, b.") as string });
  });
});
