import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Command, Option } from "commander";
import { createWebhook } from "../client/index.ts";
import { toNodeListener } from "../server/index.ts";
import type { CliContext } from "./cli-context.ts";
import { createOutputOption, parseCount, parsePort } from "./client-options.ts";
import { createPortInUseError, isPortInUseError } from "./cli-error.ts";
import { OutputWriter, type OutputFormat } from "./output-writer.ts";
import { waitForAbort } from "./wait-for-abort.ts";

interface WebhookCommandOptions {
  port: number;
  host: string;
  token?: string;
  count?: number;
  output: OutputFormat;
}

export function createWebhookCommand(context: CliContext): Command {
  return new Command("webhook")
    .addOption(
      new Option("--port <port>", "port to listen on").argParser(parsePort).default(0, "any free port"),
    )
    .option("--host <host>", "address to listen on", "127.0.0.1")
    .option("--token <token>", "token that each notification must have (default: a random token)")
    .option("--count <n>", "end after this number of notifications (default: Ctrl-C ends it)", parseCount)
    .addOption(createOutputOption().env("A2ACLI_OUTPUT"))
    .addHelpText(
      "after",
      `
Register the printed URL and token with colloquy task push-config create. With -o json, each notification is one line.`,
    )
    .action((options: WebhookCommandOptions) => runWebhook(options, context));
}

async function runWebhook(
  { port, host, token, count = Infinity, output: format }: WebhookCommandOptions,
  { streams, interruptSignal }: CliContext,
): Promise<void> {
  const output = new OutputWriter(streams, format, { jsonLines: true });
  const requiredToken = token ?? randomBytes(24).toString("base64url");
  const ended = new AbortController();
  const signal = AbortSignal.any([ended.signal, interruptSignal]);
  let received = 0;
  const webhook = createWebhook({
    token: requiredToken,
    onEvent(event) {
      if (received >= count) return;
      output.writeNotification(event);
      if (++received >= count) ended.abort();
    },
    onError: (error) =>
      output.writeWarning(
        `a notification is refused: ${error instanceof Error ? error.message : String(error)}`,
      ),
  });
  const server = createServer(toNodeListener(webhook));
  server.listen(port, host);
  await once(server, "listening").catch((error: unknown) => {
    throw isPortInUseError(error) ? createPortInUseError(`Port ${port} is in use.`, error) : error;
  });
  const { address, family, port: actualPort } = server.address() as AddressInfo;
  const url = `http://${family === "IPv6" ? `[${address}]` : address}:${actualPort}/`;
  streams.err(`Webhook: ${url}\n${token === undefined ? `Token: ${requiredToken}\n` : ""}Ctrl-C stops it.\n`);
  try {
    await waitForAbort(signal);
  } finally {
    // The response to the last notification must reach its sender.
    setTimeout(() => server.closeAllConnections(), 1_000).unref();
    await new Promise((resolve) => {
      server.close(resolve);
    });
  }
}
