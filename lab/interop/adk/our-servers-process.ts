import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { JsonLinesProcess } from "./json-lines-process.ts";

const program = fileURLToPath(new URL("../programs/adk/our-servers.ts", import.meta.url));
const START_TIMEOUT_MS = 60_000;

/** URLs of our test agents. */
export interface OurServerUrls {
  readonly adk: string;
  readonly generator: string;
}

/** Our servers in a child process with a SQLite store, so that the harness can kill and restart them. */
export class OurServersProcess {
  readonly #folder = mkdtempSync(join(tmpdir(), "colloquy-interop-"));
  readonly #artifacts: "whole" | "pieces";
  #process: JsonLinesProcess | undefined;
  #urls: OurServerUrls | undefined;

  /** `artifacts` is the option of the generator agent. */
  constructor(artifacts: "whole" | "pieces") {
    this.#artifacts = artifacts;
  }

  /** Returns the URLs of the servers. The first call starts the servers. */
  async getUrls(): Promise<OurServerUrls> {
    return this.#urls ?? this.#start();
  }

  async #start(): Promise<OurServerUrls> {
    const { adk, generator } = this.#urls ?? { adk: "http://x:0", generator: "http://x:0" };
    const ports = [adk, generator].map((url) => new URL(url).port || "0");
    this.#process = new JsonLinesProcess([
      process.execPath,
      program,
      ...ports,
      this.#folder,
      this.#artifacts,
    ]);
    this.#urls = await this.#process.read<OurServerUrls>(START_TIMEOUT_MS);
    return this.#urls;
  }

  /** Kills the servers without warning, and starts them on the same ports and store. */
  async killAndRestart(): Promise<void> {
    await this.#process?.kill();
    await this.#start();
  }

  async stop(): Promise<void> {
    await this.#process?.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
