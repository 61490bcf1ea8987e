import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { CliTestProcess, createTempTestDirectoryWithFiles } from "../../src/cli/cli-test-process.fixture.ts";

it("the example 22-mastra.ts runs", async () => {
  const hook = new URL("resolve-peers.mjs", import.meta.url).href;
  const example = fileURLToPath(new URL("../../examples/22-mastra.ts", import.meta.url));
  const cwd = await createTempTestDirectoryWithFiles({});
  const { code, out } = await new CliTestProcess(process.execPath, ["--import", hook, example], cwd).result;
  expect({ code, out }).toEqual({
    code: 0,
    out: "TASK_STATE_INPUT_REQUIRED May refund be called?\nTASK_STATE_COMPLETED The money is on its way.\n",
  });
});
