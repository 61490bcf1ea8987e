import { expect, it } from "vitest";
import {
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  spawnColloquyForTest,
} from "../cli-test-process.fixture.ts";

const SHOP = "https://shop.example";
const SERVE = ["serve", "--exec", "cat", "--name", "cat", "--store", "memory", "--port", "0"];

/** Serves in a folder with the files, and returns the origin that a page of the shop may use. */
async function fetchAllowedOrigin(
  args: readonly string[],
  files: Record<string, string> = {},
): Promise<string | null> {
  const cli = spawnColloquyForTest([...SERVE, ...args], await createTempTestDirectoryWithFiles(files));
  try {
    const banner = await cli.waitForOutput("Ctrl-C stops it.");
    const [url = ""] = /http:\/\/\S+/.exec(banner) ?? [];
    const response = await fetch(`${url}/.well-known/agent-card.json`, { headers: { origin: SHOP } });
    return response.headers.get("access-control-allow-origin");
  } finally {
    cli.child.kill("SIGKILL");
    await cli.result;
  }
}

it.each([
  ["no option", [], {}, null],
  ["an origin", ["--cors-origin", SHOP], {}, SHOP],
  ["several origins", ["--cors-origin", "https://other.example", "--cors-origin", SHOP], {}, SHOP],
  ["all origins", ["--cors-origin", "*"], {}, "*"],
  [
    "a configuration file",
    [],
    { "colloquy.config.ts": `export default { corsOrigin: [${JSON.stringify(SHOP)}] };` },
    SHOP,
  ],
])("serve allows pages of other origins with %s", async (_, args, files, allowed) => {
  expect(await fetchAllowedOrigin(args, files)).toBe(allowed);
});

it("serve refuses a URL with a path as an origin", async () => {
  const { code, err } = await runCliInTestProcess([...SERVE, "--cors-origin", `${SHOP}/`]);
  expect(code).toBe(2);
  expect(err).toContain(`use "*" or a list such as ["https://shop.example"]`);
});
