import { createServer as createHttpServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { readdir } from "node:fs/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  CliTestProcess,
  createTempTestDirectoryWithFiles,
  spawnColloquyForTest,
} from "../../src/cli/cli-test-process.fixture.ts";
import { connect } from "../../src/client/index.ts";
import { getText } from "../../src/protocol/index.ts";
import { isWindows } from "../support/is-windows.ts";

// The commonest mistakes of developers, each made in a real process. The process prints what happened, where, and
// one thing to do, and exits or goes on as it should.

/** A program that makes a mistake, and the output and the exit code of its process. */
interface MistakenProgram {
  readonly mistake: string;
  /** Source of the program. */
  readonly program: string;
  /** Texts on stderr. */
  readonly explanations: readonly string[];
  /** Exit code of the process. Default: 1. */
  readonly code?: number;
}

const HELLO = `agent({ name: "hello", description: "Greets" }, async function* () { yield "Hello"; })`;

/** Serves an agent, sends a message to the agent, and prints the state of the task. */
const sendTo = (agent: string): string => `
  const server = createServer(${agent}, { store: "memory" });
  const { url } = await server.listen();
  const answer = await (await connect(url)).send("Hello");
  if ("task" in answer) console.log(answer.task.status.state);
  await server.close();`;

const PROGRAMS: readonly MistakenProgram[] = [
  {
    mistake: "connect without await",
    program: `const remote = connect("http://127.0.0.1:9"); remote.catch(() => {}); remote.send("Hello");`,
    explanations: ["connect(…) returns a promise. Write (await connect(…)).send instead.", "program.mjs:2"],
  },
  {
    mistake: "listen without await",
    program: `const { url } = createServer(${HELLO}, { store: "memory" }).listen();`,
    explanations: ["listen() returns a promise. Write (await listen()).url instead.", "program.mjs:2"],
  },
  {
    mistake: "a port that is in use",
    program: `
      const first = await createServer(${HELLO}, { store: "memory" }).listen();
      await createServer(${HELLO}, { store: "memory" }).listen({ port: first.port }).catch((error) => {
        console.error(error.code, error.message);
        process.exit(1);
      });`,
    explanations: ["EADDRINUSE", "cannot listen on 127.0.0.1:", "stop that process, or choose another port"],
  },
  {
    mistake: "an agent that yields a number",
    program: sendTo(`agent({ name: "hello", description: "Greets" }, async function* () { yield 42; })`),
    explanations: ["The agent yielded 42. Yield text, a part, or an event.", `"taskId"`],
    code: 0,
  },
  {
    mistake: "an agent that returns its answer",
    program: sendTo(
      `agent({ name: "hello", description: "Greets" }, async function* () { return "Hello"; })`,
    ),
    explanations: [String.raw`The agent returned \"Hello\", which no caller receives. Write yield instead`],
    code: 0,
  },
  {
    mistake: "an async function instead of a generator",
    program: `agent({ name: "hello", description: "Greets" }, async () => "Hello");`,
    explanations: [`agent "hello" is of type AsyncFunction; write async function*`, "program.mjs:2"],
  },
  {
    mistake: "a reply of an agent that responds with tasks",
    program: sendTo(
      `agent({ name: "hello", description: "Greets" }, async function* () { yield reply("Hello"); })`,
    ),
    explanations: [String.raw`requires the option respondsWith: \"either\"`, "otherwise yield text"],
    code: 0,
  },
  {
    mistake: "an agent without a description",
    program: `agent({ name: "hello" }, async function* () {});`,
    explanations: [`The agent "hello" has an invalid description: description must be a text`],
  },
  {
    mistake: "createServer with a generator function",
    program: `createServer(async function* () { yield "Hello"; });`,
    explanations: ["The argument of createServer is a function; wrap the function in agent("],
  },
  {
    mistake: "an unknown option of createServer",
    program: `createServer(${HELLO}, { stroe: "memory" });`,
    explanations: [`createServer has no option "stroe". Did you mean store?`, "program.mjs:2"],
  },
  {
    mistake: "an unknown limit of createServer",
    program: `createServer(${HELLO}, { limits: { maxBodyByte: 1 } });`,
    explanations: [`"limits" of createServer has no option "maxBodyByte". Did you mean maxBodyBytes?`],
  },
  {
    mistake: "an unknown option of connect",
    program: `await connect("http://127.0.0.1:9", { heders: {} });`,
    explanations: [`connect has no option "heders". Did you mean headers?`],
  },
  {
    mistake: "an unknown option of an authentication scheme",
    program: `(await import("colloquy/auth")).jwt({ jwks: "https://example.com/keys", audience: "me" });`,
    explanations: [`jwt has no option "jwks". Did you mean jwksUrl?`],
  },
  {
    mistake: "connect without a URL",
    program: `await connect(process.env.MISSING_AGENT_URL);`,
    explanations: ["url: is of type undefined; pass the URL of an agent, such as http://localhost:4000"],
  },
  {
    mistake: "connect with a misspelled scheme",
    program: `await connect("htp:/localhost:4000");`,
    explanations: [`"htp:/localhost:4000" is not an HTTP URL; pass one such as http://localhost:4000`],
  },
  {
    mistake: "connect to an address where no server listens",
    program: `await connect("http://127.0.0.1:9");`,
    explanations: ["Found no agent card for http://127.0.0.1:9", "is the agent running and reachable?"],
  },
  {
    mistake: "https for a server without TLS",
    program: `
      const server = createServer(${HELLO}, { store: "memory" });
      const { url } = await server.listen();
      await connect(url.replace("http:", "https:")).catch(({ message }) => console.error(message));
      await server.close();`,
    explanations: ["the server does not use TLS; write http:// instead of https://"],
    code: 0,
  },
  {
    mistake: "other machines without authentication",
    program: `await createServer(${HELLO}, { store: "memory" }).listen({ host: "0.0.0.0" });`,
    explanations: ["authenticate", "allowUnauthenticated: true"],
  },
  {
    mistake: "a store whose folder is a file",
    program: `await createServer(${HELLO}, { store: "sqlite:program.mjs/tasks.db" }).listen();`,
    explanations: [
      "program.mjs/tasks.db cannot be opened: a part of its path is a file; choose another path",
    ],
  },
];

async function runProgram(program: string): Promise<{ code: number | null; err: string; cwd: string }> {
  const cwd = await createTempTestDirectoryWithFiles({
    "program.mjs": `import { agent, connect, createServer, reply } from "colloquy";\n${program}\n`,
  });
  const { code, err } = await new CliTestProcess(process.execPath, ["program.mjs"], cwd).result;
  return { code, err, cwd };
}

/** A command line that contains a mistake, or that serves files with mistakes. */
interface MistakenCommand {
  readonly mistake: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly arguments: readonly string[];
  readonly explanations: readonly string[];
  readonly code: number;
}

const COMMANDS: readonly MistakenCommand[] = [
  {
    mistake: "an unknown flag",
    arguments: ["serve", "--prot", "1"],
    explanations: ["unknown option '--prot'", "Did you mean --port?"],
    code: 2,
  },
  {
    mistake: "an unknown key in the configuration file",
    files: { "colloquy.config.mjs": "export default { prot: 1 };" },
    arguments: ["serve"],
    explanations: ["colloquy.config.mjs: prot is unknown. Did you mean port?"],
    code: 2,
  },
  {
    mistake: "a syntax error in the agent file",
    files: { "agent.mjs": "export const agent = = 1;" },
    arguments: ["serve", "agent.mjs"],
    explanations: ["agent.mjs: could not be loaded: ", "(line 1)", "hint: Correct the error in the file."],
    code: 2,
  },
  {
    mistake: "a package that is not installed",
    files: { "agent.mjs": `import { LlmAgent } from "@google/adk"; export const agent = LlmAgent;` },
    arguments: ["serve", "agent.mjs"],
    explanations: ["agent.mjs: could not be loaded: Cannot find", "npm install @google/adk"],
    code: 2,
  },
  {
    mistake: "an async function as an agent",
    files: { "agent.mjs": `export async function agent() { return "Hello"; }` },
    arguments: ["serve", "agent.mjs"],
    explanations: ["agent.mjs: agent is an async function; write async function* and yield the answer"],
    code: 2,
  },
  {
    mistake: "a program that serves itself instead of exporting an agent",
    files: {
      "agent.mjs": `import { createServer } from "node:http"; createServer().listen(0); export const port = 0;`,
    },
    arguments: ["serve", "agent.mjs"],
    explanations: [
      "agent.mjs: exports no agent (only port)",
      "Export the agent as rootAgent, agent, or default",
    ],
    code: 2,
  },
  {
    mistake: "an agent without an answer at its URL",
    arguments: ["send", "http://127.0.0.1:9", "Hello"],
    explanations: ["Found no agent card for http://127.0.0.1:9", "is the agent running and reachable?"],
    code: 3,
  },
];

const TIMEOUT = { timeout: 120_000 };

describe.concurrent("a mistake in a program", () => {
  it.each(PROGRAMS)("is explained: $mistake", TIMEOUT, async ({ program, explanations, code = 1 }) => {
    const ended = await runProgram(program);
    for (const explanation of explanations) expect(ended.err).toContain(explanation);
    expect(ended.code).toBe(code);
  });

  it("has no side effects if an option is unknown", TIMEOUT, async () => {
    const { cwd } = await runProgram(`await createServer(${HELLO}, { stroe: "memory" }).listen();`);
    expect(await readdir(cwd)).toEqual(["program.mjs"]);
  });
});

describe.concurrent("a mistake on the command line", () => {
  it.each(COMMANDS)("is explained, and ends the process: $mistake", TIMEOUT, async (command) => {
    const cwd = await createTempTestDirectoryWithFiles({ ...command.files });
    const { code, err } = await spawnColloquyForTest(command.arguments, cwd).result;
    for (const explanation of command.explanations) expect(err).toContain(explanation);
    expect(code).toBe(command.code);
  });

  it("is explained, and ends the process: a --port that is in use", TIMEOUT, async () => {
    const other = createHttpServer().listen(0, "127.0.0.1");
    onTestFinished(() => void other.close());
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const cwd = await createTempTestDirectoryWithFiles({});
    const flags = ["--exec", "cat", "--store", "memory", "--port", String(port)];
    const { code, err } = await spawnColloquyForTest(["serve", ...flags], cwd).result;
    expect({ code, err }).toMatchObject({
      code: 1,
      err: expect.stringContaining(
        `Port ${port} is in use. Stop the process that uses it, or choose another port.`,
      ) as string,
    });
  });

  it.skipIf(isWindows)(
    "does not swallow SIGTERM while an agent file loads without end",
    TIMEOUT,
    async () => {
      const cwd = await createTempTestDirectoryWithFiles({
        "agent.mjs": `console.error("loading"); setInterval(() => {}, 1000); await new Promise(() => {});`,
      });
      const cli = spawnColloquyForTest(["serve", "agent.mjs"], cwd);
      await cli.waitForOutput("loading");
      cli.child.kill("SIGTERM");
      expect((await cli.result).code).toBe(130);
    },
  );
});

/** An agent whose error has a cause, and contains secrets. */
const CLUMSY = `agent({ name: "clumsy", description: "Trips" }, async function* trip() {
  const cause = new Error("no route to the model");
  throw new Error("401 for " + process.env.MODEL_API_KEY + " with password=hunter2", { cause });
})`;

const SECRETS = { MODEL_API_KEY: "value-of-the-key" };

interface ErrorLogLine {
  readonly level: string;
  readonly where: string;
  readonly message: string;
  readonly taskId: string;
  readonly errorId: string;
  readonly stack: string;
}

function parseErrorLogLines(err: string): ErrorLogLine[] {
  const lines = err.split("\n").filter((line) => line.startsWith("{"));
  return lines.map((line) => JSON.parse(line) as ErrorLogLine).filter(({ level }) => level === "error");
}

/** Asserts that each failed task has a log line with the error id that the caller received. */
function expectFailuresInLog(err: string, callerTexts: readonly string[]): void {
  const lines = parseErrorLogLines(err);
  const ids = callerTexts.map((text) => /under error id ([0-9a-f]{8})\./.exec(text)?.[1]);
  expect(lines.map(({ errorId }) => errorId)).toEqual(ids);
  expect(new Set(ids).size).toBe(callerTexts.length);
  for (const { where, message, taskId, stack } of lines) {
    expect({ where, message }).toEqual({ where: "agent", message: "401 for *** with password=***" });
    expect(taskId).toMatch(/^[0-9a-f-]{36}$/);
    expect(stack).toContain("at trip (");
    expect(stack).toContain("Caused by: Error: no route to the model");
  }
  expect(err).not.toContain("hunter2");
  expect(err).not.toContain(SECRETS.MODEL_API_KEY);
}

describe.concurrent("the log", () => {
  const failTwice = (options: string): string => `
    const server = createServer(${CLUMSY}, { store: "memory"${options} });
    const remote = await connect((await server.listen()).url);
    for (let count = 0; count < 2; count++) {
      const { task } = await remote.send("walk");
      console.log(task.status.message.parts[0].text);
    }
    await server.close();`;
  const runFailingProgram = async (
    options: string,
  ): Promise<{ code: number | null; out: string; err: string }> => {
    const cwd = await createTempTestDirectoryWithFiles({
      "program.mjs": `import { agent, connect, createServer } from "colloquy";\n${failTwice(options)}\n`,
    });
    return await new CliTestProcess(process.execPath, ["program.mjs"], cwd, SECRETS).result;
  };

  it(
    "of the library has the cause of each failed task on stderr, and the server continues",
    TIMEOUT,
    async () => {
      const { code, out, err } = await runFailingProgram("");
      expect(code).toBe(0);
      expectFailuresInLog(err, out.trim().split("\n"));
    },
  );

  it.each(["observer: false", "observer: { onError() {} }"])("is empty with %s", TIMEOUT, async (option) => {
    const { code, out, err } = await runFailingProgram(`, ${option}`);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toContain("under error id");
  });

  it.skipIf(isWindows)(
    "of `serve` has the cause of each failed task, and on request a line per request",
    TIMEOUT,
    async () => {
      const cwd = await createTempTestDirectoryWithFiles({
        "agent.mjs": `import { agent } from "colloquy";\nexport const rootAgent = ${CLUMSY};\n`,
      });
      const flags = ["--store", "memory", "--port", "0", "-o", "json", "--log-requests"];
      const cli = spawnColloquyForTest(["serve", "agent.mjs", ...flags], cwd, SECRETS);
      const banner = await cli.waitForOutput("Ctrl-C stops it.");
      const { url } = JSON.parse(banner.slice(0, banner.indexOf("\n}\n") + 3)) as { url: string };
      const remote = await connect(url);
      const texts: string[] = [];
      for (let count = 0; count < 2; count++) {
        const answer = await remote.send("walk");
        if ("task" in answer) texts.push(getText(answer.task.status.message?.parts ?? []));
      }
      cli.child.kill("SIGTERM");
      const { code, err } = await cli.result;
      expect(code).toBe(0);
      expectFailuresInLog(err, texts);
      expect(err).toMatch(/"where":"request","message":"POST \/a2a\/\S+ 200 in \d+ ms"/);
    },
  );

  it(
    "tells an expired token from a token for another service, and callers learn nothing",
    TIMEOUT,
    async () => {
      const { out, err, code } = await runTokenProgram();
      expect(code).toBe(0);
      const [expired, other] = out.trim().split("\n");
      expect(expired).toBe(other);
      expect(err).toMatch(
        /"level":"warn","where":"authentication","message":"bearer: the token expired at 20/,
      );
      expect(err).toContain(String.raw`unexpected \"aud\" claim value: \"another service\"`);
    },
  );
});

async function runTokenProgram(): Promise<{ code: number | null; out: string; err: string }> {
  const program = `
    import { agent, connect, createServer } from "colloquy";
    import { jwt } from "colloquy/auth";
    import { generateKeyPairSync, sign } from "node:crypto";
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    function createToken(claims) {
      const text = encode({ alg: "ES256", kid: "1" }) + "." + encode(claims);
      const key = { key: privateKey, dsaEncoding: "ieee-p1363" };
      return text + "." + sign("sha256", Buffer.from(text), key).toString("base64url");
    }
    const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "ES256" }];
    const authenticate = jwt({ keys, audience: "this service" });
    const server = createServer(${HELLO}, { store: "memory", authenticate });
    const { url } = await server.listen();
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [
      { sub: "ada", aud: "this service", exp: now - 60 },
      { sub: "ada", aud: "another service", exp: now + 60 },
    ]) {
      const remote = await connect(url, { auth: { bearer: createToken(claims) } });
      await remote.send("Hello").catch(({ message }) => console.log(message));
    }
    await server.close();`;
  const cwd = await createTempTestDirectoryWithFiles({ "program.mjs": program });
  return await new CliTestProcess(process.execPath, ["program.mjs"], cwd).result;
}
