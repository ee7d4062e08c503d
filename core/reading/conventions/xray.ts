import type { Convention } from '../decode/format.ts';
import { hasPrefix } from './attributes.ts';
import { buildOther } from './build-other.ts';

/** Spans that X-Ray made from segments (Step Functions, Lambda, API calls): no agent content, but errors and time. */
export const xray: Convention = {
  id: 'xray',
  title: 'AWS X-Ray segments',
  knownBy: 'aws.xray.* attributes without a scope',
  from: 'X-Ray segments in `aws/spans` (Transaction Search)',
  checkedOn: 'records of Step Functions and Lambda',
  claim: (span) => (span.scope.name === '' && hasPrefix(span.attributes, 'aws.xray.') ? 15 : 0),
  read: (span) => {
    const cause = span.attributes['aws.xray.cause.message'];
    return buildOther(span, typeof cause === 'string' ? { shown: { 'aws.xray.cause.message': cause } } : {});
  },
};
