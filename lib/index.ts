/** What `import … from 'rootspan/cdk'` gives. The bundles of the functions come with the package. */
export { SessionDiagnosis, type SessionDiagnosisProps } from './session-diagnosis.ts';
