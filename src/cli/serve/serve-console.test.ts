import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { bearer } from "../../server/auth/index.ts";
import { createServer } from "../../server/index.ts";
import { createTempTestDirectoryWithFiles } from "../cli-test-process.fixture.ts";
import { createMountedConsole } from "./serve-console.ts";

type ConsoleSetup = Parameters<typeof createMountedConsole>[0];

const TOKEN = "key-of-a-caller-123456";

/** Adds an agent of this machine through a console, and returns whether the console called it. */
async function callsPrivateAgent(setup: Partial<ConsoleSetup>): Promise<boolean> {
  let isCalled = false;
  const internal = createHttpServer((_, response) => {
    isCalled = true;
    response.writeHead(404).end();
  });
  await once(internal.listen(0, "127.0.0.1"), "listening");
  const { isAuthenticated = false, publicUrl } = setup;
  const { console, serverOptions, renderUrl } = createMountedConsole({
    mode: "console",
    name: "test",
    host: "127.0.0.1",
    isAuthenticated,
    publicUrl,
    ...setup,
  });
  const server = createServer(
    {},
    {
      ...serverOptions,
      store: "memory",
      observer: false,
      ...(publicUrl === undefined ? {} : { publicUrl }),
      ...(isAuthenticated ? { authenticate: bearer({ tokens: { [TOKEN]: "ada" } }) } : {}),
    },
  );
  onTestFinished(async () => {
    console.close();
    await server.close();
    internal.close();
  });
  const token = isAuthenticated ? TOKEN : (renderUrl("").split("token=")[1] ?? "");
  const response = await server.fetch(
    new Request("http://127.0.0.1/console/api/agents", {
      method: "POST",
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "x-colloquy-console": "1",
      },
      body: JSON.stringify({ url: `http://127.0.0.1:${(internal.address() as AddressInfo).port}` }),
    }),
  );
  expect(response.status).toBe(201);
  return isCalled;
}

describe("the console of a command", () => {
  it.each<[string, Partial<ConsoleSetup>]>([
    ["behind a proxy with authentication", { publicUrl: "https://a.example", isAuthenticated: true }],
    ["with a public URL", { publicUrl: "https://a.example" }],
    ["with authentication", { isAuthenticated: true }],
    ["on an address of the network", { host: "10.0.0.1", isAuthenticated: true }],
  ])("calls no agents of this machine %s [SEC-80]", async (_, setup) => {
    expect(await callsPrivateAgent(setup)).toBe(false);
  });

  it.each<[string, Partial<ConsoleSetup>]>([
    ["that only users of this machine can use", {}],
    ["whose operator allows private agents", { allowPrivateAgents: true, isAuthenticated: true }],
  ])("calls agents of this machine, on a console %s", async (_, setup) => {
    expect(await callsPrivateAgent(setup)).toBe(true);
  });
});

describe("the secret of the pages' sessions", () => {
  it("is created again if its file is empty, for example because the disk was full", async () => {
    const folder = await createTempTestDirectoryWithFiles({ secret: "" });
    const sessionSecretFile = join(folder, "secret");
    const setup = { mode: "serve", name: "test", host: "127.0.0.1", publicUrl: undefined } as const;
    createMountedConsole({ ...setup, isAuthenticated: false, sessionSecretFile }).console.close();
    expect(await readFile(sessionSecretFile, "utf8")).toHaveLength(43);
  });
});
