import { randomUUID } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { Command } from "commander";
import { generateApiKey } from "../../server/auth/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createOutputOption } from "../client-options.ts";
import { OutputWriter, type OutputFormat } from "../output-writer.ts";
import { readApiKeyFile } from "../serve/serve-auth-options.ts";

interface AuthNewKeyOptions {
  tenant?: string;
  scope?: string[];
  file?: string;
  output: OutputFormat;
}

export function createAuthNewKeyCommand(context: CliContext): Command {
  return new Command("new-key")
    .argument("<principal>", "the caller that the key identifies; it owns the tasks created with the key")
    .option("--tenant <tenant>", "the only tenant that accepts the key")
    .option("--scope <scope...>", "the scopes that the key grants")
    .option("--file <file>", "add the stored form of the key to this file, for `serve --api-keys-file`")
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .action((principal: string, options: AuthNewKeyOptions) =>
      generateAndPrintApiKey(principal, options, context),
    );
}

function generateAndPrintApiKey(
  principal: string,
  { tenant, scope, file, output }: AuthNewKeyOptions,
  { streams }: CliContext,
): void {
  const { key, storedKey } = generateApiKey({
    principal,
    ...(tenant === undefined ? {} : { tenant }),
    ...(scope ? { scopes: scope } : {}),
  });
  if (file !== undefined) {
    const known = existsSync(file) ? readApiKeyFile(file) : [];
    // Writes a temporary file and renames it, because a server may read the file at any time.
    const temporaryFile = `${file}.${randomUUID()}`;
    writeFileSync(temporaryFile, `${JSON.stringify([...known, storedKey], null, 2)}\n`, {
      mode: 0o600,
      flag: "wx",
    });
    renameSync(temporaryFile, file);
  }
  const out = new OutputWriter(streams, output);
  if (output === "json") return out.writeResultIfJsonFormat({ key, stored: storedKey });
  streams.out(`Key: ${key}\n`);
  if (file === undefined) streams.out(`Kept: ${JSON.stringify(storedKey)}\n`);
  out.writeHint(
    file === undefined
      ? "The key cannot be shown again. Configure servers with the value after Kept."
      : `The key cannot be shown again. Serve with --api-keys-file ${file}`,
  );
}
