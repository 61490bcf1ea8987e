import { expect, it } from "vitest";
import { connect } from "../../client/index.ts";
import { createTutor } from "./tutor.ts";

it("The planner of the demo without a language model names the problems that it can solve, and what to do", async () => {
  const { roleUrls, sampleProblem, close } = await createTutor(undefined, undefined);
  const planner = await connect(roleUrls[0] ?? "");
  const reason = await planner.ask("How far is the moon?").catch(String);
  expect(reason).toContain("Without a language model, the demo solves only its sample problems");
  expect(reason).toContain("--model");
  expect(reason).toContain(sampleProblem);
  expect(reason).not.toContain("Create it with the samples of the run");
  await close();
});
