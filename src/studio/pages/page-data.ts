import type { TrafficLine } from "../../observe/trace/index.ts";
import type { CardRunData } from "./cards/model/run-model.ts";

/**
 * The data of a page without a console. The page contains the data as JSON.
 *
 * - `record`: traffic lines, or the message cards of a run, that the page contains.
 * - `watch`: a record that grows, whose lines the page requests from a server.
 */
export type PageData =
  | {
      readonly mode: "record";
      readonly name: string;
      readonly version: string;
      readonly firstScreen?: string;
      readonly lines: readonly TrafficLine[];
      /** The message cards of a run. Default: the message cards in `lines`. */
      readonly cards?: CardRunData;
    }
  | {
      readonly mode: "watch";
      readonly name: string;
      readonly version: string;
      readonly firstScreen?: string;
      /** Relative URL of the lines. */
      readonly linesUrl: string;
      /** ID of the run to show. Default: the first run. */
      readonly runId?: string;
    };

/** Id of the element that contains the data of the page. */
export const PAGE_DATA_ELEMENT_ID = "page-data";

/** Id of the element that contains the script of the workers, or the URL of the script as `data-url`. */
export const WORKER_ELEMENT_ID = "worker-script";
/** Name of the Trusted Types policy for the URL of the worker script. */
export const WORKER_POLICY_NAME = "page-worker";
