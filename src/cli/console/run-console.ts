import { createServer } from "../../server/index.ts";
import { untilAborted } from "../../client/index.ts";
import { waitForAbort } from "../wait-for-abort.ts";
import type { CliContext } from "../cli-context.ts";
import { type OutputFormat, OutputWriter } from "../output-writer.ts";
import { readCardTrust } from "../read-card-trust.ts";
import { createAuthSchemes, type ServeAuthOptions } from "../serve/serve-auth-options.ts";
import { createMountedConsole } from "../serve/serve-console.ts";
import { createStderrLogObserver, listenOnNextFreePort } from "../serve/serve-until-stopped.ts";
import { openInBrowser } from "../open-in-browser.ts";
import type { PriceOption } from "../trace/price-option.ts";

/** Options of `colloquy console`. */
export interface ConsoleCommandOptions extends ServeAuthOptions, PriceOption {
  port: number;
  strictPort?: boolean;
  host: string;
  publicUrl?: string;
  allowPrivateAgents?: boolean;
  open?: boolean;
  cardKey?: string[];
  cardJwks?: string[];
  output: OutputFormat;
}

interface ConsoleTargets {
  readonly agentUrls: readonly string[];
  readonly recordFiles: readonly string[];
}

/** Serves the console until the user stops the command. */
export async function runConsole(
  { agentUrls, recordFiles }: ConsoleTargets,
  options: ConsoleCommandOptions,
  context: CliContext,
): Promise<void> {
  const { host, publicUrl, allowPrivateAgents, open, output, prices: priceFile } = options;
  const authenticate = createAuthSchemes(options, process.env);
  const cardTrust = await readCardTrust({ keyFiles: options.cardKey, jwksUrls: options.cardJwks });
  const { console, serverOptions, renderUrl } = createMountedConsole({
    mode: agentUrls.length === 0 && recordFiles.length > 0 ? "file" : "console",
    name: agentUrls[0] ?? recordFiles[0] ?? "Colloquy",
    host,
    publicUrl,
    allowPrivateAgents,
    isAuthenticated: authenticate !== undefined,
    agentUrls,
    recordFiles,
    priceFile,
    cardTrust,
  });
  // A server without agents, whose only purpose is the console.
  const server = createServer(
    {},
    {
      ...serverOptions,
      store: "memory",
      observer: createStderrLogObserver(context),
      ...(authenticate ? { authenticate } : {}),
      ...(publicUrl === undefined ? {} : { publicUrl }),
    },
  );
  try {
    const address = await untilAborted(
      listenOnNextFreePort(server, options, context),
      context.interruptSignal,
    );
    const url = renderUrl(address.url);
    new OutputWriter(context.streams, output).writeResultIfJsonFormat({ url });
    context.streams.err(`The console is at\n  ${url}\nCtrl-C stops it.\n`);
    if (open) openInBrowser(url);
    await waitForAbort(context.interruptSignal);
  } finally {
    console.close();
    await server.close();
  }
}
