-- The modules of the product. The category order of the picker is the console's (spec part 1, section 2).
insert into modules (module_id, name, description, category) values
  ('mod_breast_cancer',        'Breast Cancer',        'Lesion detection and staging in mammography',            'oncology'),
  ('mod_lung_nodule',          'Lung Nodule',          'Nodule detection and follow-up in chest CT',             'oncology'),
  ('mod_prostate',             'Prostate',             'Lesion scoring in multiparametric MRI',                  'oncology'),
  ('mod_colorectal_cancer',    'Colorectal Cancer',    'Polyp and tumor assessment',                             'oncology'),
  ('mod_melanoma',             'Melanoma',             'Skin lesion triage',                                     'oncology'),
  ('mod_diabetes',             'Diabetes',             'Retinopathy screening and glucose trends',               'chronic_diseases'),
  ('mod_heart_failure',        'Heart Failure',        'Echo measurements and risk of decompensation',           'chronic_diseases'),
  ('mod_copd',                 'Copd',                 'Spirometry and emphysema quantification',                'chronic_diseases'),
  ('mod_kidney_disease',       'Kidney Disease',       'Progression of chronic kidney disease',                  'chronic_diseases'),
  ('mod_histology',            'Histology',            'Whole-slide viewing and measurement',                    'pathology'),
  ('mod_cytology',             'Cytology',             'Cell counting and classification',                       'pathology'),
  ('mod_immunohistochemistry', 'Immunohistochemistry', 'Scoring of stained slides',                              'pathology'),
  ('mod_dose_report',          'Dose Report',          'Radiation dose tracking and reports',                    'radiology'),
  ('mod_structured_reporting', 'Structured Reporting', 'Report templates with coded findings',                   null);
