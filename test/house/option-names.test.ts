import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const readAll = (pattern: string): string =>
  globSync(pattern, { cwd: root })
    .map((file) => readFileSync(`${root}/${file}`, "utf8"))
    .join("\n");

/** Exported options whose function accepts unknown options, each with the reason. */
const UNGUARDED_OPTIONS: Readonly<Record<string, string>> = {
  DurableObjectServerOptions: "createServer checks these options.",
  RemoteAgentOptions: "ADK adds options to its base configuration in minor releases.",
  RunnerOptions: "adkAgent and toA2a check these options.",
  SessionEventOptions: "toSessionEvent runs for every event.",
  WebhookAuthOptions: "WebhookOptions contains these options.",
};

/** Names inside this package for types of public methods, each with the method. */
const MEMBER_OPTIONS: Readonly<Record<string, string>> = {
  PushListOptions: "A2AClient.tasks.pushConfigs.list",
  TaskOptions: "A2AClient.tasks",
};

describe("unknown options", () => {
  // An entry names its exports, or re-exports the `public.ts` or `index.ts` of a folder.
  const entries = readAll("src/entries/*.ts");
  const rooms = [...entries.matchAll(/export (?:type )?\* from "\.\.\/(\S+)"/g)].map(([, path]) =>
    readAll(`src/${path}`),
  );
  const exportedNames = [...[entries, ...rooms].join("\n").matchAll(/\b(\w+Options)\b/g)].map(
    ([, name]) => name ?? "",
  );
  const guardedNames = new Set(
    [...readAll("src/!(base)/**/!(*.test).ts").matchAll(/defineOptionNames<(\w+)/g)].map(
      ([, name = ""]) => name,
    ),
  );

  it("are refused by every exported function with options, but for listed exceptions", () => {
    const names = [...new Set(exportedNames)];
    expect(names.length).toBeGreaterThan(60);
    const unguarded = names.filter((name) => !guardedNames.has(name));
    expect(unguarded.toSorted()).toEqual(Object.keys(UNGUARDED_OPTIONS).toSorted());
  });

  it("are checked only where users pass options, and not again in functions that only this package calls", () => {
    const publicNames = new Set(readAll("api/*.md").match(/\b\w+\b/g));
    const internal = [...guardedNames].filter((name) => !publicNames.has(name) && !(name in MEMBER_OPTIONS));
    expect(internal).toEqual([]);
  });
});
