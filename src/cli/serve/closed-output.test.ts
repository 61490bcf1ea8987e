import { rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { isWindows } from "../../../test/support/is-windows.ts";
import { createTempTestDirectoryWithFiles, startServeCommandForTest } from "../cli-test-process.fixture.ts";

const AGENT = `export default {
  describe: () => ({ name: "chatty", description: "Prints" }),
  async *execute() {
    process.stdout.write("on stdout\\n");
    console.log("on stderr");
    yield { artifact: { artifactId: "a", parts: [{ text: "answer" }] } };
  },
};`;

it.skipIf(isWindows)(
  "a server continues without output when the reader of its output has ended",
  async () => {
    const folder = await createTempTestDirectoryWithFiles({ "agent.mjs": AGENT });
    const { process, url } = await startServeCommandForTest(
      ["serve", "agent.mjs", "--store", "memory", "--log-requests"],
      folder,
    );
    process.child.stdout?.destroy();
    process.child.stderr?.destroy();
    for (let repetition = 0; repetition < 3; repetition++) {
      const response = await fetch(`${url}/message:send`, {
        method: "POST",
        headers: { "a2a-version": "1.0", "content-type": "application/json" },
        body: JSON.stringify({
          message: { messageId: `${repetition}`, role: "ROLE_USER", parts: [{ text: "?" }] },
        }),
      });
      expect(await response.json()).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    }
    process.child.kill("SIGTERM");
    expect((await process.result).code).toBe(0);
    await rm(folder, { recursive: true });
  },
);
