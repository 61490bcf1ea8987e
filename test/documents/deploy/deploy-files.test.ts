import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { agent } from "../../../src/entries/colloquy.ts";
import { createServer } from "../../../src/server/index.ts";
import { addServeOptions } from "../../../src/cli/serve.ts";
import {
  getContainer,
  listNodeCommands,
  readRepositoryFile,
  readYaml,
  type YamlNode,
} from "./deploy-files.ts";

interface ParsedServeOptions {
  readonly port: number;
  readonly host: string;
  readonly store: string;
  readonly authTokenEnv: readonly string[];
  readonly publicUrl?: string;
  readonly drain?: number;
}

/** `Server.close` waits up to 2 seconds each for agents and for notifications after the drain. */
const CLOSE_MS = 4000;

/** Parses the arguments of `colloquy serve` with the options of the command line. */
function parseServeArguments(args: readonly string[]): { paths: string[]; options: ParsedServeOptions } {
  const command = addServeOptions(new Command("serve")).argument("[paths...]").exitOverride();
  command.configureOutput({ writeErr: () => {} });
  const [name, ...rest] = args;
  expect(name).toBe("serve");
  command.parse([...rest], { from: "user" });
  return { paths: command.args, options: command.opts<ParsedServeOptions>() };
}

const PORT = 4120;
const commands = listNodeCommands();
const kubernetes = "deploy/kubernetes/colloquy.yaml";
const dockerfile = readRepositoryFile("Dockerfile");

describe.each(commands)("$file", ({ file, args, environment, stopSeconds }) => {
  const { paths, options } = parseServeArguments(args);

  it("passes arguments that colloquy serve accepts, and serves the folder of the image", () => {
    expect(paths).toEqual(["agents"]);
    expect(options.port).toBe(PORT);
    expect(options.host).toBe(file.includes("systemd") ? "127.0.0.1" : "0.0.0.0");
  });

  it("authenticates callers with a token from the environment", () => {
    expect(options.authTokenEnv).toEqual(["COLLOQUY_TOKEN"]);
    expect(environment).toContain("COLLOQUY_TOKEN");
  });

  it("drains, and closes before the platform kills the node", () => {
    expect(options.drain).toBeGreaterThanOrEqual(5000);
    expect(options.drain! + CLOSE_MS).toBeLessThan(stopSeconds * 1000);
  });

  it("has no password in its arguments", () => {
    if (!options.store.startsWith("postgres:")) return expect(file).toBe("Dockerfile");
    expect(new URL(options.store).password).toBe("");
    expect(environment).toEqual(expect.arrayContaining(["PGPASSWORD", "COLLOQUY_PUSH_SECRET_KEYS"]));
  });
});

describe("the variables of the files", () => {
  const names = new Set(commands.flatMap(({ environment }) => environment));

  it.each([...names])("%s is read by the program", (name) => {
    const sources = [
      "src/stores/postgres/postgres-store.ts", // COLLOQUY_PUSH_SECRET_KEYS
      "docs/how-to/postgres.md", // `pg` reads PGPASSWORD
    ].map(readRepositoryFile);
    const flags = commands.flatMap(({ args }) => args).join(" ");
    expect([...sources, flags].some((text) => text.includes(name))).toBe(true);
  });

  it("are required by compose.yaml, so that no node starts with an empty secret", () => {
    const compose = readRepositoryFile("deploy/compose.yaml");
    const variables = [...compose.matchAll(/\$\{(\w+)([^}]*)\}/g)];
    expect(variables.length).toBeGreaterThan(3);
    for (const [, name, rest] of variables) {
      expect(rest).toMatch(/^:\?/);
      expect(compose).toContain(`${name}=%s`);
    }
  });
});

describe("deploy/.env, which contains the secrets", () => {
  it("stays out of commits and out of the image", () => {
    expect(readRepositoryFile("docs/operations.md")).toContain("> deploy/.env");
    expect(readRepositoryFile(".gitignore").split("\n")).toContain(".env");
    expect(readRepositoryFile(".dockerignore").split("\n")).toContain("**/.env");
  });
});

describe("the health checks of the files", () => {
  const container = getContainer(readYaml(kubernetes, "Deployment"));
  const cloudRun = getContainer(readYaml("deploy/cloud-run.yaml"));
  const getProbe = (from: YamlNode, name: string): unknown => from[name]?.["httpGet"];

  it("use paths that a server answers", async () => {
    const echo = agent({ name: "echo", description: "Repeats" }, async function* ({ text }) {
      yield text;
    });
    const server = createServer(echo, { store: "memory" });
    const { url } = await server.listen();
    const files = [dockerfile, "deploy/Caddyfile", kubernetes, "deploy/cloud-run.yaml"];
    const paths = files.flatMap((file) =>
      [...(file === dockerfile ? file : readRepositoryFile(file)).matchAll(/\/(?:health|ready)\w+/g)].map(
        String,
      ),
    );
    expect(new Set(paths)).toEqual(new Set(["/healthz", "/readyz"]));
    for (const path of new Set(paths)) expect((await fetch(`${url}${path}`)).status).toBe(200);
    await server.close();
  });

  it("restart a process that does not answer, and send no requests to a node without a database", () => {
    for (const from of [container, cloudRun])
      expect(getProbe(from, "livenessProbe")).toMatchObject({ path: "/healthz" });
    expect(getProbe(container, "readinessProbe")).toEqual({ path: "/readyz", port: "http" });
    expect(getProbe(container, "startupProbe")).toEqual({ path: "/healthz", port: "http" });
    expect(readRepositoryFile("deploy/Caddyfile")).toMatch(/health_uri \/readyz/);
  });
});

describe("the ports of the files", () => {
  it("are the port of the node", () => {
    expect(dockerfile).toContain(`EXPOSE ${PORT}\n`);
    expect(dockerfile).toContain(`http://127.0.0.1:${PORT}/healthz`);
    expect(readRepositoryFile("deploy/Caddyfile")).toContain(`reverse_proxy node-1:${PORT} node-2:${PORT} {`);
    for (const file of [kubernetes, "deploy/cloud-run.yaml"]) {
      const kind = file === kubernetes ? "Deployment" : "Service";
      expect(getContainer(readYaml(file, kind))["ports"]).toMatchObject([{ containerPort: PORT }]);
    }
    expect(readYaml(kubernetes, "Service")["spec"]).toMatchObject({ ports: [{ targetPort: "http" }] });
  });

  it("of the balancer are the port of the public URL", () => {
    const { options } = parseServeArguments(commands[0]!.args);
    expect(readRepositoryFile("deploy/Caddyfile")).toContain(`:${new URL(options.publicUrl!).port} {`);
    expect(readYaml("deploy/compose.yaml")["services"]!["balancer"]!["ports"]).toEqual([
      `127.0.0.1:${new URL(options.publicUrl!).port}:8080`,
    ]);
  });
});

describe("the Kubernetes resources", () => {
  it("select the pods of the deployment", () => {
    const { selector, template } = readYaml(kubernetes, "Deployment")["spec"]!;
    const labels = { app: "colloquy" };
    expect(template!["metadata"]).toEqual({ labels });
    expect(selector).toEqual({ matchLabels: labels });
    expect(readYaml(kubernetes, "Service")["spec"]!["selector"]).toEqual(labels);
    expect(readYaml(kubernetes, "PodDisruptionBudget")["spec"]).toMatchObject({
      selector: { matchLabels: labels },
    });
    expect(readYaml(kubernetes, "HorizontalPodAutoscaler")["spec"]).toMatchObject({
      scaleTargetRef: { kind: "Deployment", name: "colloquy" },
    });
  });

  it("keep the connections of all nodes below the default max_connections of PostgreSQL", () => {
    const { maxReplicas } = readYaml(kubernetes, "HorizontalPodAutoscaler")["spec"]! as never as {
      maxReplicas: number;
    };
    // One more node starts during a rolling update, and PostgreSQL reserves three connections.
    expect((maxReplicas + 1) * 11).toBeLessThanOrEqual(100 - 3);
  });
});

describe("the image", () => {
  it("runs as a user without privileges, on the Node version of the scripts, from a final stage without tools", () => {
    const stages = dockerfile.split(/^FROM /m).slice(1);
    expect(stages).toHaveLength(3);
    for (const stage of stages) expect(stage).toMatch(/^node:24-slim/);
    expect(stages[2]).toMatch(/^USER node$/m);
    expect(stages[2]).not.toMatch(/^RUN/m);
  });
});
