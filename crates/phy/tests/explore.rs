mod channels;
use channels::*;
use lanetwin_phy::eye::*;
use lanetwin_units::Generation;
fn show(name:&str, r:&Receiver, p:&Prepared, s:&Stress){
  let t=std::time::Instant::now();
  let e=r.search(p,s,&Search::default());
  let dt=t.elapsed();
  let d=r.search(p,s,&Search{full_eyes:200,..Default::default()});
  println!("{name:20} EH {:6.2} mV EW {:.3} ber {:.1e} ffe {:?} ctle {} dfe {:?} c {:.3} pd {:.1} mV | deep EH {:.2} EW {:.3} ffe {:?} ctle {} | {:?}", e.opening.height_v*1e3,e.opening.width_ui,e.ber,(e.ffe.before,e.ffe.after),e.ctle_db,e.dfe_v.iter().map(|x|(x*1e4).round()/10.).collect::<Vec<_>>(),e.centre_ui,e.peak_distortion_v*1e3,d.opening.height_v*1e3,d.opening.width_ui,(d.ffe.before,d.ffe.after),d.ctle_db,dt);
}
#[test]
fn explore(){
  let r=Receiver::new(Generation::Gen5,&Constants::built_in()).unwrap();
  let benign=Stress{noise_v:0.8e-3,jitter:Jitter{deterministic_s:3.1e-12,random_s:0.3e-12}};
  let nominal=Stress{noise_v:1.5e-3,jitter:Jitter{deterministic_s:6.25e-12,random_s:0.5e-12}};
  for (sn,s) in [("benign",benign),("nominal",nominal)]{ println!("{sn}");
  for loss in [5.0,10.0,18.4,24.0,29.2,32.0,36.0,40.0,44.0]{
    let t=std::time::Instant::now();
    let p=r.prepare(&Channel::new(smooth(loss))).unwrap();
    let dt=t.elapsed();
    show(&format!("smooth {loss} {dt:?}"),&r,&p,&s);
  }
  let l=Line::new;
  for (n,ls) in [("36 spec",vec![l(9.),l(16.),l(1.5),l(9.5)]),("41.1",vec![l(9.),l(12.),l(1.5),l(5.0),l(3.5),l(4.),l(6.1)]),("29.2",vec![l(9.),l(12.),l(1.5),l(6.7)]),("18.4",vec![l(5.),l(3.5),l(4.),l(5.9)])]{
    let th=cascade(&ls,0.12);
    let i=th.h[1600]; println!("   IL {:.2}", -10.0*i.norm_sqr().log10());
    let p=r.prepare(&Channel::new(th.clone())).unwrap();
    show(n,&r,&p,&s);
    let f=Aggressor{transfer:far_end(&th,20.0),ffe:PRESETS[7]};
    let ne=Aggressor{transfer:near_end(52.0),ffe:PRESETS[7]};
    let p=r.prepare(&Channel::new(th).with_aggressor(f.clone()).with_aggressor(f).with_aggressor(ne)).unwrap();
    show(&format!("{n} xtalk"),&r,&p,&s);
  }}
  let p=r.prepare(&Channel::new(smooth(36.0))).unwrap();
  let t=std::time::Instant::now();
  let c=r.calibrate(&p); println!("{c:?} {:?}",t.elapsed());
  if let Ok(c)=c { show("36 cal",&r,&p,&c);
  for loss in [5.0,18.4,29.2,35.0,41.1]{ let p=r.prepare(&Channel::new(smooth(loss))).unwrap(); show(&format!("cal {loss}"),&r,&p,&c);} }
}
