import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { FakeOidcProvider } from "../../wire/keys/fake-oidc-provider.fixture.ts";
import { generateApiKey, type StoredApiKey } from "../../server/auth/index.ts";
import { createAuthSchemes } from "./serve-auth-options.ts";
import {
  CliTestProcess,
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
  type CliTestProcessResult,
} from "../cli-test-process.fixture.ts";
import { expectFileMode, isWindows } from "../../../test/support/is-windows.ts";

const TOKEN = "token-of-ada-0123456789";
const OTHER = "token-of-bob-0123456789";
const CALLER_NAME_AGENT = `
import { agent } from "colloquy";
export default agent({ name: "who", description: "Says who asks" }, async function* ({ caller }) {
  yield caller.principal + "@" + caller.tenant;
});`;

/** A `colloquy serve who.ts …` process, with methods to query it. */
class ServeProcess implements AsyncDisposable {
  readonly #process: CliTestProcess;
  url = "";
  banner = "";

  constructor(cli: CliTestProcess) {
    this.#process = cli;
  }

  static async open(
    args: readonly string[],
    files: Record<string, string> = {},
    env: Record<string, string> = {},
  ): Promise<ServeProcess> {
    const cwd = await createTempTestDirectoryWithFiles({ "who.ts": CALLER_NAME_AGENT, ...files });
    const served = new ServeProcess(
      spawnColloquyForTest(["serve", "who.ts", "--store", "memory", "--port", "0", ...args], cwd, env),
    );
    served.banner = await served.#process.waitForOutput("Ctrl-C stops it.");
    served.url = /http:\/\/\S+/.exec(served.banner)?.[0] ?? "";
    return served;
  }

  send(...args: string[]): Promise<CliTestProcessResult> {
    return runCliInTestProcess(["send", this.url, "Hi", ...args]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.child.kill("SIGKILL");
    await this.#process.result;
  }
}

const runServeCommand = (...args: string[]): Promise<CliTestProcessResult> =>
  runCliInTestProcess(["serve", "--exec", "cat", "--store", "memory", "--port", "0", ...args]);

describe("serve", () => {
  it.skipIf(isWindows)(
    "accepts tokens from variables, also on public addresses, and prints none of them [M-01, M-08]",
    async () => {
      const args = ["--host", "0.0.0.0", "--auth-token-env", "ADA", "--auth-token-env", "BOB"];
      await using served = await ServeProcess.open(args, { ".env": `BOB=${OTHER}\n` }, { ADA: TOKEN });
      expect((await served.send("--bearer", TOKEN)).out).toContain("ADA@");
      expect((await served.send("--bearer", OTHER)).out).toContain("BOB@");
      expect(await served.send("--bearer", `${TOKEN}x`)).toMatchObject({ code: 4 });
      expect((await served.send()).err).toContain("A2ACLI_ERR_CREDENTIALS_MISSING");
      expect(served.banner).toContain("First set A2ACLI_BEARER to your credentials.");
      const curl = served.banner.split("\n").find((line) => line.includes("curl ")) ?? "false";
      const { out } = await new CliTestProcess("/bin/sh", ["-c", curl], process.cwd(), {
        A2ACLI_BEARER: TOKEN,
      }).result;
      expect(out).toContain("TASK_STATE_COMPLETED");
      for (const token of [TOKEN, OTHER]) expect(served.banner).not.toContain(token);
    },
  );

  it("accepts tokens from a file", async () => {
    const tokens = `# who may come in\nada  ${TOKEN}\n\nbob ${OTHER}\n`;
    await using served = await ServeProcess.open(["--bearer-file", "tokens"], { tokens });
    expect((await served.send("--bearer", TOKEN)).out).toContain("ada@");
    expect((await served.send("--bearer", OTHER)).out).toContain("bob@");
  });

  it("accepts tokens of an OpenID issuer", async () => {
    await using issuer = await FakeOidcProvider.start();
    await using served = await ServeProcess.open(["--oidc-issuer", issuer.url, "--audience", "agents"]);
    expect((await served.send("--bearer", await issuer.signToken())).out).toContain(`${issuer.url}|ada@`);
    expect(await served.send("--bearer", await issuer.signToken({ aud: "others" }))).toMatchObject({
      code: 4,
    });
  });

  it.each([
    [
      "a variable that is not set",
      ["--auth-token-env", "NOT_SET_ANYWHERE"],
      "NOT_SET_ANYWHERE of --auth-token-env is not set",
    ],
    ["a file that is not there", ["--bearer-file", "/nowhere/tokens"], "/nowhere/tokens cannot be read"],
    ["keys that are not there", ["--api-keys-file", "/nowhere/keys"], "/nowhere/keys cannot be read"],
    ["an issuer without an audience", ["--oidc-issuer", "https://id.example.com"], "must be used together"],
    ["an audience without an issuer", ["--audience", "agents"], "must be used together"],
    [
      "an issuer that anybody can read along",
      ["--oidc-issuer", "http://id.example.com", "--audience", "a"],
      "https",
    ],
  ])("says what is wrong with %s", async (_, args, words) => {
    const { code, out, err } = await runServeCommand(...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain(words);
  });

  it("reports the line of an invalid file without its content", async () => {
    const directory = await createTempTestDirectoryWithFiles({
      tokens: `ada ${TOKEN}\n${OTHER}\n`,
      keys: `{"k":"${TOKEN}"}`,
      short: "ada secret",
    });
    const output = await Promise.all([
      runServeCommand("--bearer-file", join(directory, "tokens")),
      runServeCommand("--api-keys-file", join(directory, "keys")),
      runServeCommand("--bearer-file", join(directory, "short")),
    ]);
    expect(output.map(({ code }) => code)).toEqual([2, 2, 2]);
    const [tokens, keys, short] = output.map(({ err }) => err);
    expect(tokens).toContain(`tokens:2 does not have the form "name token"`);
    expect(keys).toContain("has no JSON list of keys");
    expect(short).toContain("at least 16 characters");
    expect(output.map(({ err }) => err).join("")).not.toMatch(/token-of|secret/);
  });
});

describe("auth new-key", () => {
  let file: string;
  const newKey = async (...args: string[]): Promise<{ key: string; stored: StoredApiKey }> =>
    JSON.parse((await runCliInTestProcess(["auth", "new-key", ...args, "-o", "json"])).out) as {
      key: string;
      stored: StoredApiKey;
    };

  beforeAll(async () => {
    file = join(await createTempTestDirectoryWithFiles({}), "keys.json");
  });

  it("creates keys that serve accepts, in a private file that contains only hashes [M-01]", async () => {
    const ada = await newKey("ada", "--tenant", "acme", "--file", file);
    const { out, err, code } = await runCliInTestProcess(["auth", "new-key", "bob", "--file", file]);
    expect([code, out]).toEqual([0, expect.stringMatching(/^Key: clq_[\w-]+\n$/)]);
    expect(err).toContain(`--api-keys-file ${file}`);
    const kept = await readFile(file, "utf8");
    expect(JSON.parse(kept)).toEqual([ada.stored, expect.objectContaining({ principal: "bob" })]);
    expect(kept).not.toContain(ada.key);
    expectFileMode(file, 0o600);
    await using served = await ServeProcess.open(["--api-keys-file", file]);
    expect((await served.send("--api-key", ada.key)).out).toContain("ada@acme");
    expect((await served.send("--api-key", out.slice(5).trim())).out).toContain("bob@");
    expect(await served.send("--api-key", generateApiKey("ada").key)).toMatchObject({ code: 4 });
    expect(served.banner).toContain(`X-API-Key: $A2ACLI_API_KEY`);
  });

  it("prints the stored form without a file", async () => {
    const { out } = await runCliInTestProcess(["auth", "new-key", "ada", "--scope", "read", "write"]);
    const [, key = "", kept = ""] = /^Key: (\S+)\nKept: (.+)\n$/.exec(out) ?? [];
    expect(JSON.parse(kept)).toMatchObject({
      id: key.slice(4, 16),
      principal: "ada",
      scopes: ["read", "write"],
    });
  });

  it("does not change a file with other content", async () => {
    const directory = await createTempTestDirectoryWithFiles({ "notes.txt": "precious" });
    const notes = join(directory, "notes.txt");
    expect(await runCliInTestProcess(["auth", "new-key", "ada", "--file", notes])).toMatchObject({
      code: 2,
      out: "",
    });
    expect(await readFile(notes, "utf8")).toBe("precious");
  });
});

describe("the file of keys", () => {
  it("is reloaded after a change, so that a key can be revoked while a server runs", async () => {
    const [ada, bob] = [generateApiKey("ada"), generateApiKey("bob")];
    const file = join(
      await createTempTestDirectoryWithFiles({ keys: JSON.stringify([ada.storedKey]) }),
      "keys",
    );
    let time = 0;
    const [keys] = createAuthSchemes({ apiKeysFile: file }, {}, () => time) ?? [];
    const whose = async (key: string): Promise<unknown> => {
      const found = await keys?.authenticate({ method: "GET", path: "/", query: "", header: () => key });
      return typeof found === "object" && "principal" in found ? found.principal : found;
    };
    expect([await whose(ada.key), await whose(bob.key)]).toEqual(["ada", "invalid"]);
    await writeFile(file, JSON.stringify([bob.storedKey, bob.storedKey]));
    time = 999;
    expect([await whose(ada.key), await whose(bob.key)]).toEqual(["ada", "invalid"]);
    time = 1000;
    expect([await whose(ada.key), await whose(bob.key)]).toEqual(["invalid", "bob"]);
    await rm(file);
    time = 2000;
    await expect(whose(bob.key)).rejects.toThrow("cannot be read");
  });
});
