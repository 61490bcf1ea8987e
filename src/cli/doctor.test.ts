import { execFileSync } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { warnAboutSkippedTests } from "../../test/support/warn-about-skipped-tests.ts";
import { findTestDatabase } from "../../test/support/find-test-postgres.ts";
import { agent } from "../agents/adapters/index.ts";
import { createServer, type Server } from "../server/index.ts";
import { PostgresStore } from "../stores/index.ts";
import { findPgBouncer, startTestPgBouncer } from "../stores/postgres/pgbouncer.fixture.ts";
import { createTempTestDirectoryWithFiles, runCliInTestProcess } from "./cli-test-process.fixture.ts";
import { satisfiesRange } from "./doctor/examine-project.ts";

const AGENT = "export default async function* greeter() { yield 'Hello.'; }\n";
const PACKAGE = '{ "name": "app", "type": "module" }\n';

interface Report {
  readonly problems: number;
  readonly checks: readonly { id: string; result: string; seen: string; remedy?: string }[];
}

async function examine(cwd: string, ...words: string[]): Promise<Report & { code: number | null }> {
  const { code, out } = await runCliInTestProcess(["doctor", ...words, "-o", "json"], { cwd });
  return { ...(JSON.parse(out) as Report), code };
}

function listFindings({ checks }: Report): string[] {
  return checks
    .filter(({ result }) => result === "problem" || result === "warning")
    .map(({ id, result }) => `${result} ${id}`);
}

/** Creates a project with a configuration and other files, and commits the files of `tracked`. */
async function createProject(
  config: object = {},
  { files = {}, tracked }: { files?: Record<string, string>; tracked?: readonly string[] } = {},
): Promise<string> {
  const folder = await createTempTestDirectoryWithFiles({
    "package.json": PACKAGE,
    "greeter.js": AGENT,
    "colloquy.config.js": `export default ${JSON.stringify({ agents: ["greeter.js"], ...config })};\n`,
    ...files,
  });
  if (tracked) {
    execFileSync("git", ["init", "--quiet"], { cwd: folder });
    execFileSync("git", ["add", "--force", ...tracked], { cwd: folder });
  }
  return folder;
}

describe("colloquy doctor with a URL", () => {
  let server: Server;
  let url: string;
  beforeAll(async () => {
    const greeter = agent({ name: "greeter", description: "Greets" }, async function* greet() {
      yield "Hello.";
    });
    server = createServer(greeter, { store: "memory", observer: false });
    ({ url } = await server.listen());
  });
  afterAll(() => server.close());

  it("prints each check with its result, and the numbers", async () => {
    const { code, out } = await runCliInTestProcess(["doctor", url]);
    expect(out).toContain("Proxies and clocks\n  ok          DEPLOY-VERSION-HEADER: The header A2A-Version");
    expect(out).toMatch(/\n\d+ ok, 0 warning, 0 problem, \d+ not checked\.\n$/);
    expect(code).toBe(0);
  });

  it("exits with 3 if there is no agent", async () => {
    expect((await runCliInTestProcess(["doctor", "http://127.0.0.1:1"])).code).toBe(3);
  });
});

describe("colloquy doctor with a project", () => {
  it.each([[], ["."], ["greeter.js"]])(
    "has no finding for a project without a defect: %s",
    async (...words) => {
      const folder = await createProject({}, { tracked: ["package.json", "greeter.js"] });
      const report = await examine(folder, ...words);
      expect(listFindings(report)).toEqual([]);
      expect(report).toMatchObject({ code: 0, problems: 0 });
      expect(report.checks.find(({ id }) => id === "PROJECT-AGENTS")).toMatchObject({ seen: "greeter." });
    },
  );

  it.each<[finding: string, config: object]>([
    ["warning PROJECT-AUTH", { host: "0.0.0.0", allowUnauthenticated: true }],
    ["warning PROJECT-PUBLIC-URL", { host: "0.0.0.0", bearerFile: "tokens" }],
    ["problem PROJECT-PUBLIC-URL", { publicUrl: "http://agents.example.com", bearerFile: "tokens" }],
    ["warning PROJECT-WEBHOOKS", { publicUrl: "https://a.example", allowPrivateWebhooks: true }],
    ["warning PROJECT-RECORD", { publicUrl: "https://a.example", record: "traffic.jsonl" }],
    ["warning PROJECT-TOKENS", { authTokenEnv: ["COLLOQUY_DOCTOR_MISSING"] }],
    ["warning PROJECT-STORE", { store: "memory" }],
    ["problem PROJECT-STORE", { role: "web" }],
    ["problem PROJECT-DATABASE", { store: "postgres://127.0.0.1:1/tasks" }],
    ["problem PROJECT-AGENTS", { agents: ["package.json"] }],
  ])("%s: %o", async (finding, config) => {
    expect(listFindings(await examine(await createProject(config)))).toContain(finding);
  });

  it("finds a short token of a variable, without its text", async () => {
    const folder = await createProject({ authTokenEnv: ["APP_TOKEN"] });
    const { out, code } = await runCliInTestProcess(["doctor"], {
      cwd: folder,
      env: { APP_TOKEN: "hunter2" },
    });
    expect(out).toContain("The token of APP_TOKEN has fewer than 16 characters.");
    expect(out).not.toContain("hunter2");
    expect(code).toBe(1);
  });

  it.skipIf(process.platform === "win32")("finds files that others can read", async () => {
    const folder = await createProject(
      { bearerFile: "tokens" },
      { files: { ".colloquy/colloquy.db": "", tokens: "ada 0123456789abcdef" } },
    );
    for (const file of [".colloquy/colloquy.db", "tokens"]) chmodSync(join(folder, file), 0o644);
    const report = await examine(folder);
    expect(listFindings(report)).toEqual(["problem PROJECT-FILE-MODES"]);
    expect(report.checks.find(({ id }) => id === "PROJECT-FILE-MODES")?.seen).toContain("tokens");
    for (const file of [".colloquy/colloquy.db", "tokens"]) chmodSync(join(folder, file), 0o600);
    expect(listFindings(await examine(folder))).toEqual([]);
  });

  it("finds tracked files with secrets, and tokens in tracked files, without their text", async () => {
    const token = `ghp_${"a1".repeat(18)}`;
    const files = {
      ".env": "KEY=x",
      ".env.example": "KEY=",
      "app.js": `fetch(url, "${token}");`,
      "style.css": ".sk-button {}",
    };
    const clean = await createProject({}, { files, tracked: ["style.css", ".env.example"] });
    expect(listFindings(await examine(clean))).toEqual([]);
    const folder = await createProject({}, { files, tracked: Object.keys(files) });
    const report = await examine(folder);
    expect(listFindings(report)).toEqual([
      "problem PROJECT-TRACKED-FILES",
      "problem PROJECT-TRACKED-SECRETS",
    ]);
    expect(JSON.stringify(report)).toContain("Git tracks .env.");
    expect(JSON.stringify(report)).not.toContain(token);
  });

  it("finds two copies of a package, and a version that is not supported", async () => {
    const colloquy = {
      name: "colloquy",
      version: "1.0.0",
      peerDependencies: { react: "^18 || ^19", pg: "^8.16.0" },
    };
    const folder = await createProject(
      {},
      {
        files: {
          "node_modules/colloquy/package.json": JSON.stringify(colloquy),
          "node_modules/colloquy/node_modules/react/package.json": '{ "version": "19.1.0" }',
          "node_modules/react/package.json": '{ "version": "18.3.1" }',
          "node_modules/pg/package.json": '{ "version": "8.9.0" }',
        },
      },
    );
    const report = await examine(folder);
    expect(listFindings(report)).toEqual(["problem PROJECT-PEERS", "problem PROJECT-COPIES"]);
    expect(report.checks.find(({ id }) => id === "PROJECT-PEERS")?.seen).toBe("pg 8.9.0 is not in ^8.16.0.");
    expect(report.checks.find(({ id }) => id === "PROJECT-COPIES")?.seen).toContain("react is in");
  });

  it("finds a version of Node.js that the project does not support", async () => {
    const files = { "package.json": '{ "name": "app", "type": "module", "engines": { "node": ">=99" } }' };
    expect(listFindings(await examine(await createProject({}, { files })))).toEqual(["problem PROJECT-NODE"]);
  });

  it("exits with 2 if the folder does not exist", async () => {
    expect((await runCliInTestProcess(["doctor", "./missing"])).code).toBe(2);
  });
});

describe("colloquy doctor with PostgreSQL", async () => {
  const program = findPgBouncer();
  if (program === undefined) warnAboutSkippedTests("Tests with PgBouncer", "install the package pgbouncer.");
  const { url, reason } = await findTestDatabase();

  it.skipIf(reason)("reads the schema, and tests notifications with --yes", async () => {
    const folder = await createProject({ store: url });
    expect(listFindings(await examine(folder))).toEqual(["warning PROJECT-DATABASE"]);
    const store = new PostgresStore(url);
    await store.open();
    await store.close();
    const report = await examine(folder, "--yes");
    expect(listFindings(report)).toEqual([]);
    expect(report.checks.find(({ id }) => id === "PROJECT-HINTS")?.result).toBe("ok");
    if (program === undefined) return;
    const pooler = await startTestPgBouncer(program, url);
    onTestFinished(() => pooler.stop());
    const pooled = await createProject({ store: pooler.toPooledUrl(url) });
    const hints = (await examine(pooled, "--yes")).checks.find(({ id }) => id === "PROJECT-HINTS");
    // Older versions of PgBouncer also mix up the prepared statements of clients.
    expect(hints?.seen).toMatch(/pooler in transaction mode|prepared statement/);
    expect(hints?.result).toMatch(/warning|problem/);
  });
});

describe("ranges of versions", () => {
  it.each([
    ["22.13.0", ">=22.13", true],
    ["22.12.9", ">=22.13", false],
    ["18.3.1", "^18 || ^19", true],
    ["20.0.0", "^18 || ^19", false],
    ["0.20.5", "^0.20.0", true],
    ["0.21.0", "^0.20.0", false],
    ["0.3.331", "^0.3.330", true],
    ["0.3.329", "^0.3.330", false],
    ["0.999.0", ">=0.205.0 <1", true],
    ["1.0.0", ">=0.205.0 <1", false],
    ["2.1.0-rc.1", "^2.0.0", true],
    ["1.2.3", "1.2.3", true],
    ["1.2.4", "1.2.3", false],
  ])("%s in %s: %s", (version, range, isInside) => {
    expect(satisfiesRange(version, range)).toBe(isInside);
  });
});
