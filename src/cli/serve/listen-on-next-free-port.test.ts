import { expect, it } from "vitest";
import type { Server } from "../../server/index.ts";
import type { CliContext } from "../cli-context.ts";
import { listenOnNextFreePort } from "./serve-until-stopped.ts";

it.each([
  [4190, "hint: browsers and fetch refuse port 4190; use --port 4191.\n"],
  [6665, "hint: browsers and fetch refuse port 6665; use --port 6670.\n"],
  [4120, ""],
])("a command on port %s names a usable port if fetch refuses the port", async (port, hint) => {
  let written = "";
  const server = { listen: async () => ({ url: `http://127.0.0.1:${port}` }) } as unknown as Server;
  const context = { streams: { err: (text: string) => (written += text) } } as unknown as CliContext;
  await listenOnNextFreePort(server, { port, host: "127.0.0.1" }, context);
  expect(written).toBe(hint);
  if (hint === "") return;
  const refusal: unknown = await fetch(`http://127.0.0.1:${port}`).catch((error: Error) => error.cause);
  expect(String(refusal)).toContain("bad port");
});
