import { serveParentProcessCalls } from "../child-process-rpc.ts";
import { measureGrpcThroughput, type GrpcThroughputOptions } from "./grpc-throughput.ts";
import {
  waitForSubscriberStreamsToEnd,
  openSubscribers,
  type SubscribersOptions,
  type SubscribersResult,
} from "./subscribers.ts";
import {
  sendOnce,
  measureLargeResponse,
  measureSequentialRequests,
  measureThroughput,
  measureStreamTiming,
  type LargeResponse,
  type ThroughputOptions,
  type StreamTimingOptions,
  type StreamTiming,
} from "./http-measurements.ts";
import type { RequestTemplate } from "./request-template.ts";
import type { ThroughputResult } from "./response-counter.ts";

/** Methods that the process of the load generator offers to the benchmark. */
export type LoadGeneratorMethods = {
  measureThroughput(options: ThroughputOptions): Promise<ThroughputResult>;
  measureGrpcThroughput(options: GrpcThroughputOptions): Promise<ThroughputResult>;
  measureStreamTiming(options: StreamTimingOptions): Promise<StreamTiming>;
  measureLargeResponse(template: RequestTemplate): Promise<LargeResponse>;
  measureSequentialRequests(options: { template: RequestTemplate; count: number }): Promise<number[]>;
  sendOnce(template: RequestTemplate): Promise<string>;
  openSubscribers(options: SubscribersOptions): Promise<number>;
  waitForSubscribers(): Promise<SubscribersResult>;
};

serveParentProcessCalls({
  measureThroughput,
  measureGrpcThroughput,
  measureStreamTiming,
  measureLargeResponse,
  measureSequentialRequests,
  sendOnce,
  openSubscribers,
  waitForSubscribers: waitForSubscriberStreamsToEnd,
} satisfies LoadGeneratorMethods);
