import { ClientGoneError } from "./http/write-response-bytes.ts";
import type { CallRecorder } from "./recording/call-recorder.ts";

/** A fault of the tap has broken the connection of a call. */
export class InjectedBreakError extends Error {
  override readonly name: string = "InjectedBreakError";

  constructor(fault: "cut" | "drop" | "kill") {
    super(`The tap injected the fault ${fault}.`);
  }
}

/** A call in progress. */
export class RelayedCall {
  readonly recorder: CallRecorder;
  readonly #recordRequest: () => void;
  #isRequestRecorded = false;
  #isKilled = false;

  /** `recordRequest` writes the request line with the part of the body that has arrived. */
  constructor(recorder: CallRecorder, recordRequest: () => void) {
    this.recorder = recorder;
    this.#recordRequest = recordRequest;
  }

  /** Writes the request line, unless it is already written. */
  noteRequest(): void {
    if (this.#isRequestRecorded) return;
    this.#isRequestRecorded = true;
    this.#recordRequest();
  }

  /** Records that a `kill` fault breaks the connection of this call. */
  markKilled(detail?: string): void {
    if (this.#isKilled) return;
    this.#isKilled = true;
    this.noteRequest();
    this.recorder.recordFault({ fault: "kill", ...(detail === undefined ? {} : { detail }) });
  }

  /**
   * Records the error that has broken this call. A closed connection to the client is the client's doing, unless a fault
   * or the stop of the tap has closed it.
   */
  recordBreak(error: unknown, isClientClosed: boolean, stopSignal: AbortSignal): void {
    this.noteRequest();
    const isOwnBreak = error instanceof InjectedBreakError || this.#isKilled || stopSignal.aborted;
    const isClientGone = !isOwnBreak && (error instanceof ClientGoneError || isClientClosed);
    this.recorder.recordBrokenCall(stopSignal.aborted ? stopSignal.reason : error, isClientGone);
  }
}

/** The calls in progress of one listener, and the time for which a `kill` fault keeps the listener down. */
export class KillSwitch {
  readonly #calls = new Set<RelayedCall>();
  readonly #monotonicNow: () => number;
  readonly #resetConnections: () => void;
  #downUntilMs = -Infinity;

  constructor(monotonicNow: () => number, resetConnections: () => void) {
    this.#monotonicNow = monotonicNow;
    this.#resetConnections = resetConnections;
  }

  get isDown(): boolean {
    return this.#monotonicNow() < this.#downUntilMs;
  }

  add(call: RelayedCall): void {
    this.#calls.add(call);
  }

  delete(call: RelayedCall): void {
    this.#calls.delete(call);
  }

  /** Resets all connections, and refuses new connections for a time in milliseconds. */
  kill(ms: number): void {
    this.#downUntilMs = this.#monotonicNow() + ms;
    for (const call of this.#calls) call.markKilled();
    this.#resetConnections();
  }
}
