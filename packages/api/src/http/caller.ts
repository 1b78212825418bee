/** Who takes turns with others: those whose requests are limited together. */
import type { FastifyRequest } from 'fastify';

export const callerOf = ({ apiKey }: Pick<FastifyRequest, 'apiKey'>): string => apiKey?.bucket.name ?? 'anonymous';
