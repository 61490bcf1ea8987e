import { chmod, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { apiKeys, bearer, generateApiKey } from "../../server/auth/index.ts";
import { AuthTestServer } from "../../server/auth/auth-test-server.fixture.ts";
import {
  spawnColloquyForTest,
  createTempTestDirectoryWithFiles,
  runCliInTestProcess,
} from "../cli-test-process.fixture.ts";
import { startInstructionFollowingTestServer, type RunningTestServer } from "./test-servers.fixture.ts";
import { runCliExpectingError, runCliForJson, runCliExpectingSuccess } from "./run-command.fixture.ts";
import { isWindows } from "../../../test/support/is-windows.ts";

interface ConfigShowOutput {
  settings: { name: string; value: string | null; source: string; file?: string }[];
}

/** Creates a home directory with a global settings file, and a project in it with a local one. */
async function createHome(
  global: string,
  local: string,
): Promise<{ env: Record<string, string>; cwd: string; HOME: string }> {
  const HOME = await createTempTestDirectoryWithFiles({});
  await mkdir(join(HOME, ".config/a2a-cli"), { recursive: true });
  await mkdir(join(HOME, "project/deep/down"), { recursive: true });
  await writeFile(join(HOME, ".config/a2a-cli/.env"), global, { mode: 0o600 });
  await writeFile(join(HOME, "project/.env"), local, { mode: 0o600 });
  return { env: { HOME }, cwd: join(HOME, "project/deep/down"), HOME };
}

async function runConfigShow(
  words: string[],
  overrides: object,
): Promise<Record<string, ConfigShowOutput["settings"][number]>> {
  const { settings } = await runCliForJson<ConfigShowOutput>(["config", "show", ...words], overrides);
  return Object.fromEntries(settings.map((one) => [one.name, one]));
}

let served: RunningTestServer;
beforeAll(async () => {
  served = await startInstructionFollowingTestServer();
});
afterAll(() => served.close());

describe("settings", () => {
  it("are read from a file that an editor saved with a byte order mark", async () => {
    const overrides = await createHome("", "\uFEFFA2ACLI_TIMEOUT=3s\r\n");
    expect((await runConfigShow([], overrides))["A2ACLI_TIMEOUT"]).toMatchObject({ value: "3s" });
  });

  it("have the precedence flag, environment, local file, global file, default [CONFIG_002]", async () => {
    const overrides = await createHome(
      "A2ACLI_TIMEOUT=4s\nA2ACLI_HISTORY=4\nA2ACLI_STATE=failed\n",
      "A2ACLI_TIMEOUT=3s\nA2ACLI_HISTORY=3\n",
    );
    const env = { ...overrides.env, A2ACLI_TIMEOUT: "2s" };
    const { HOME } = overrides;
    const all = await runConfigShow([], { cwd: overrides.cwd, env });
    expect(all["A2ACLI_TIMEOUT"]).toEqual({ name: "A2ACLI_TIMEOUT", value: "2s", source: "environment" });
    expect(all["A2ACLI_HISTORY"]).toEqual({
      name: "A2ACLI_HISTORY",
      value: "3",
      source: "local",
      file: `${HOME}/project/.env`,
    });
    expect(all["A2ACLI_STATE"]).toMatchObject({
      value: "failed",
      source: "global",
      file: `${HOME}/.config/a2a-cli/.env`,
    });
    expect(all["A2ACLI_POLL_INTERVAL"]).toMatchObject({ value: "2s", source: "default" });
    const flagged = await runConfigShow(["--timeout", "1s"], { cwd: overrides.cwd, env });
    expect(flagged["A2ACLI_TIMEOUT"]).toMatchObject({ source: "flag" });
  });

  it("control the commands in that order [CONFIG_002]", async () => {
    const overrides = await createHome(
      `A2ACLI_AGENT_CARD=${served.url}\nA2ACLI_ASYNC=true\n`,
      "A2ACLI_OUTPUT=json\n",
    );
    const { out } = await runCliExpectingSuccess(["send", "wait"], overrides);
    expect(JSON.parse(out)).toMatchObject({
      task: { status: { state: expect.stringMatching(/SUBMITTED|WORKING/) as string } },
    });
    // Flags override each of these settings.
    expect(
      (await runCliExpectingSuccess(["send", "hello", "--wait", "-o", "text"], overrides)).out,
    ).toContain("State: TASK_STATE_COMPLETED");
    const env = { ...overrides.env, A2ACLI_AGENT_CARD: "http://127.0.0.1:9", A2ACLI_OUTPUT: "text" };
    const { code, err } = await runCliInTestProcess(["card", "get"], { ...overrides, env });
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining("error: ") as string });
  });

  it("come from the --config file instead of the discovered file [CONFIG_002]", async () => {
    await using ada = await AuthTestServer.start(bearer({ tokens: { "token-of-ada-0123456789": "ada" } }));
    const { key, storedKey } = generateApiKey("bob");
    await using bob = await AuthTestServer.start(apiKeys({ in: "header", name: "X-Key", keys: [storedKey] }));
    const overrides = await createHome("", "A2ACLI_AGENT_CARD=http://127.0.0.1:9\n");
    for (const [name, url, credential] of [
      ["ada", ada.url, "A2ACLI_BEARER=token-of-ada-0123456789"],
      ["bob", bob.url, `A2ACLI_API_KEY=${key}`],
    ]) {
      await writeFile(join(overrides.cwd, `${name}.env`), `A2ACLI_AGENT_CARD=${url}\n${credential}\n`, {
        mode: 0o600,
      });
      const { out, err } = await runCliExpectingSuccess(
        ["send", "Who?", "--config", `${name}.env`],
        overrides,
      );
      expect(out).toContain(`"principal":"${name}"`);
      expect(err).toBe("");
    }
    expect(await runCliExpectingError(["card", "get", "--config", "missing.env"], overrides)).toMatchObject({
      exit: 2,
    });
  });

  it("never send global credentials to an agent that only a discovered file names [CONFIG_002]", async () => {
    await using ada = await AuthTestServer.start(bearer({ tokens: { "token-of-ada-0123456789": "ada" } }));
    const local = `A2ACLI_AGENT_CARD=${ada.url}\n`;
    const credential = "A2ACLI_BEARER=token-of-ada-0123456789\n";
    const overrides = await createHome(credential, local);
    // This holds even if the first argument looks like an agent reference.
    for (const words of [["Who?"], ["agent.example", "Who?"]]) {
      const { code, hint, message, exit } = await runCliExpectingError(["send", ...words], overrides);
      expect({ code, exit }).toEqual({ code: "A2ACLI_ERR_USAGE", exit: 2 });
      expect(message).toContain(`${overrides.HOME}/project/.env`);
      expect(hint).toContain("--config");
    }
    // A user who names the agent or the file consents. Credentials in the same file as the agent may be sent
    // to that agent.
    for (const words of [
      ["send", ada.url, "Who?"],
      ["send", "-a", ada.url, "Who?"],
    ]) {
      expect((await runCliExpectingSuccess(words, overrides)).out).toContain('"principal":"ada"');
    }
    const own = await createHome("A2ACLI_BEARER=another\n", local + credential);
    expect((await runCliExpectingSuccess(["send", "Who?"], own)).out).toContain('"principal":"ada"');
    const file = `${overrides.HOME}/project/.env`;
    expect((await runCliExpectingSuccess(["send", "Who?", "--config", file], overrides)).out).toContain(
      '"principal":"ada"',
    );
  });

  it("never send other credentials to an address that only a discovered file names [CONFIG_002] [SEC-51]", async () => {
    await using ada = await AuthTestServer.start(bearer({ tokens: { "token-of-ada-0123456789": "ada" } }));
    const token = "token-of-ada-0123456789";
    const { env, cwd, HOME } = await createHome("", `A2ACLI_AGENT_CARD=${ada.url}\n`);
    const file = `${HOME}/project/.env`;
    for (const [words, more, source] of [
      [["send", "Who?"], { A2ACLI_BEARER: token }, "A2ACLI_BEARER of the environment"],
      [
        ["send", "Who?"],
        { A2ACLI_SVC_PARAM: `authorization: Bearer ${token}` },
        "A2ACLI_SVC_PARAM of the env",
      ],
      [["send", "Who?", "--bearer", token], {}, "The value of --bearer"],
      [["card", "get"], { A2ACLI_API_KEY: token }, "A2ACLI_API_KEY of the environment"],
    ] as const) {
      const error = await runCliExpectingError(words, { cwd, env: { ...env, ...more } });
      expect(error).toMatchObject({ code: "A2ACLI_ERR_USAGE", exit: 2 });
      expect(error.message).toContain(source);
      expect(error.message).toContain(file);
      expect(error.message).not.toContain(token);
    }
    const named = await runCliExpectingSuccess(["send", ada.url, "Who?"], {
      cwd,
      env: { ...env, A2ACLI_BEARER: token },
    });
    expect(named.out).toContain('"principal":"ada"');
  });

  it("never send a client secret to an authorization server that only a discovered file names [CONFIG_002] [SEC-52]", async () => {
    const local = "A2ACLI_OAUTH_ISSUER=https://evil.example\n";
    const { env, cwd } = await createHome("", local);
    const overrides = { cwd, env: { ...env, A2ACLI_OAUTH_CLIENT: "ada:secret" } };
    for (const words of [
      ["send", "https://agent.example", "Who?"],
      ["mcp", "https://agent.example"],
    ]) {
      const { code, err, out } = await runCliInTestProcess(words, overrides);
      expect(code).toBe(2);
      expect(out + err).toContain("is not sent to https://evil.example");
    }
    const { err } = await runCliInTestProcess(
      ["send", "https://agent.invalid", "Who?", "--oauth-issuer", "https://issuer.invalid"],
      overrides,
    );
    expect(err).not.toContain("is not sent to");
  });

  it("apply to a real process, too [CONFIG_002]", async () => {
    const { cwd, HOME } = await createHome(`A2ACLI_AGENT_CARD=${served.url}\n`, "A2ACLI_OUTPUT=json\n");
    const { code, out } = await spawnColloquyForTest(["card", "get"], cwd, { HOME }).result;
    expect({ code, name: (JSON.parse(out) as { name: string }).name }).toEqual({ code: 0, name: "actor" });
  });

  it("exclude --stream and the content of a message [CONFIG_002, OUT_002]", async () => {
    const overrides = await createHome("A2ACLI_STREAM=true\nA2ACLI_TEXT=hi\n", "A2ACLI_OUTPUT=json\n");
    const { out } = await runCliExpectingSuccess(["send", served.url, "hello"], overrides);
    expect(JSON.parse(out)).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    expect(out).toContain("You said: hello");
  });

  it("with invalid values are rejected with their source, also for switches [CONFIG_002]", async () => {
    const overrides = await createHome("", "A2ACLI_TIMEOUT=soon\n");
    const error = await runCliExpectingError(["card", "get", served.url], overrides);
    expect(error).toMatchObject({ code: "A2ACLI_ERR_USAGE", exit: 2 });
    expect(error.message).toContain(`A2ACLI_TIMEOUT of ${overrides.HOME}/project/.env`);
    for (const off of ["false", "0", "no", ""]) {
      const env = { HOME: "/nowhere", A2ACLI_ASYNC: off };
      expect((await runCliExpectingSuccess(["send", served.url, "hello"], { env })).out).toContain(
        "COMPLETED",
      );
    }
    const env = { HOME: "/nowhere", A2ACLI_ASYNC: "perhaps" };
    expect(await runCliExpectingError(["send", served.url, "hello"], { env })).toMatchObject({ exit: 2 });
  });
});

describe("config show", () => {
  it("shows no credential, and changes nothing [CONFIG_001]", async () => {
    const overrides = await createHome(
      "A2ACLI_BEARER=s3cret-token\nA2ACLI_SVC_PARAM=x-key: s3cret\n",
      "A2ACLI_BASIC=ada:s3cret\n",
    );
    const before = await readFile(`${overrides.HOME}/.config/a2a-cli/.env`, "utf8");
    for (const flags of [[], ["-o", "json"], ["--debug", "--verbose"], ["--api-key", "s3cret-key"]]) {
      const { out, err } = await runCliExpectingSuccess(["config", "show", ...flags], overrides);
      expect(out).toMatch(/A2ACLI_BEARER.*\*\*\*/s);
      expect(out + err).not.toContain("s3cret");
    }
    expect(await readFile(`${overrides.HOME}/.config/a2a-cli/.env`, "utf8")).toBe(before);
    expect(await readdir(overrides.cwd)).toEqual([]);
  });

  it.skipIf(isWindows)(
    "uses the conventional path, and warns of credentials that others can read [CONFIG_001]",
    async () => {
      const overrides = await createHome("A2ACLI_BEARER=s3cret-token\n", "");
      const file = `${overrides.HOME}/.config/a2a-cli/.env`;
      expect((await runCliExpectingSuccess(["config", "show"], overrides)).err).toBe("");
      await chmod(file, 0o644);
      for (const words of [
        ["config", "show"],
        ["card", "get", served.url],
      ]) {
        expect((await runCliExpectingSuccess(words, overrides)).err).toBe(
          `warning: others can read the credentials in ${file}: chmod 600 it\n`,
        );
      }
    },
  );

  it("contains no interaction state: no command writes anything [CONFIG_001, INTERACT_005]", async () => {
    const overrides = await createHome("", "");
    for (const words of [
      ["send", served.url, "ask"],
      ["chat", served.url, "ask"],
      ["task", "list", served.url],
      ["card", "get", served.url],
      ["config", "show"],
    ]) {
      await runCliExpectingSuccess(words, overrides);
    }
    const files = (await readdir(overrides.HOME, { recursive: true, withFileTypes: true })).filter((one) =>
      one.isFile(),
    );
    expect(files.map(({ name }) => name)).toEqual([".env", ".env"]);
    for (const { parentPath, name } of files) expect(await readFile(join(parentPath, name), "utf8")).toBe("");
  });

  it("reports an unknown name with the closest known one [CONFIG_001]", async () => {
    const overrides = await createHome("", "A2ACLI_BEARRER=s3cret-token\n");
    const { out, err } = await runCliExpectingSuccess(["config", "show"], overrides);
    expect(err).toBe("warning: A2ACLI_BEARRER is no setting of this tool. Did you mean A2ACLI_BEARER?\n");
    expect(out + err).not.toContain("s3cret");
  });
});
