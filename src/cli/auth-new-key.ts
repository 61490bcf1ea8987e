import { randomUUID } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { newApiKey } from "../server/auth/index.ts";
import type { Context } from "./context.ts";
import { outputOption } from "./options.ts";
import { Output, type Format } from "./output.ts";
import { readKeys } from "./serve/authentication.ts";

interface Options {
  tenant?: string;
  scope?: string[];
  file?: string;
  output: Format;
}

export function authNewKeyCommand(context: Context): Command {
  return new Command("new-key")
    .argument("<principal>", "whom the key stands for; owns the tasks that are made with it")
    .option("--tenant <tenant>", "the only tenant that the key is for")
    .option("--scope <scope...>", "what the key permits")
    .option("--file <file>", "add what a server keeps of it to this file, for `serve --api-keys-file`")
    .addOption(outputOption().env("A2ACLI_OUTPUT"))
    .action((principal: string, options: Options) => newKey(principal, options, context));
}

function newKey(principal: string, { tenant, scope, file, output }: Options, { streams }: Context): void {
  const { key, stored } = newApiKey({
    principal,
    ...(tenant === undefined ? {} : { tenant }),
    ...(scope ? { scopes: scope } : {}),
  });
  if (file !== undefined) {
    const known = existsSync(file) ? readKeys(file) : [];
    // At once or not at all: a server may be reading it.
    const beside = `${file}.${randomUUID()}`;
    writeFileSync(beside, `${JSON.stringify([...known, stored], null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(beside, file);
  }
  const out = new Output(streams, output);
  if (output === "json") return out.fact({ key, stored });
  streams.out(`Key: ${key}\n`);
  if (file === undefined) streams.out(`Kept: ${JSON.stringify(stored)}\n`);
  out.hint(
    file === undefined
      ? "The key can not be shown again. Servers are given what stands behind Kept."
      : `The key can not be shown again. Serve with --api-keys-file ${file}`,
  );
}
